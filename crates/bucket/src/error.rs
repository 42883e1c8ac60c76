//! What can go wrong with a bucket.

use object_store::path::Path;

/// Why the bucket did not do what it was asked. No message holds a key.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The prefix can't come before keys.
    #[error("expected a bucket prefix of parts separated by single `/`, none of them `.` or `..`")]
    Prefix,
    /// There is no such object.
    #[error("the bucket has no such object")]
    NotFound,
    /// The bucket refuses the host.
    #[error("the bucket denies access: {0}")]
    Denied(String),
    /// The bucket did not answer, or not as it should. Worth trying again.
    #[error("the bucket is unavailable: {0}")]
    Unavailable(String),
    /// A segment's bytes are not those its name was made of, or more than a segment
    /// has: half written or damaged (05 §16.4).
    #[error("a segment in the bucket is not what its name says")]
    BadSegment,
    /// A document of the host's is not one.
    #[error("a document in the bucket is not what it should be: {0}")]
    BadDocument(&'static str),
}

impl BucketError {
    /// Of what went wrong at a key.
    pub(crate) fn of(error: object_store::Error, key: &Path) -> Self {
        use object_store::Error;
        match error {
            Error::NotFound { .. } => Self::NotFound,
            Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
                Self::Denied(without_ids(&error, key))
            }
            _ => Self::Unavailable(without_ids(&error, key)),
        }
    }
}

/// Parts shorter than this name no space, writer or segment.
const SHORTEST_ID: usize = 16;

/// The error's own words, with what may name something left out: the parts of the
/// key, and whatever else looks like an id, since what went wrong in a listing may be
/// at any key below. Ours are of letters, digits, `-` and `.`, so no vendor spells
/// them otherwise.
fn without_ids(error: &object_store::Error, key: &Path) -> String {
    let mut text = error.to_string();
    for part in key.parts() {
        if part.as_ref().len() >= SHORTEST_ID {
            text = text.replace(part.as_ref(), "…");
        }
    }
    let mut clean = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()) {
        let word = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        if word.len() >= SHORTEST_ID && has_digit {
            clean.push('…');
            clean.push_str(&piece[word.len()..]);
        } else {
            clean.push_str(piece);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_the_vendors_words_and_loses_the_ids() {
        let key = Path::from(
            "b5kffn5gz7liyc4d5oyrsdxdnfvn3rxcwpmglsqucm72rvhosiima/0123456789abcdef0123456789abcdef/000001-10773071eecc244b.seg",
        );
        let error = object_store::Error::Generic {
            store: "S3",
            source: format!("PUT https://s3.example/bucket/{key}: 503 SlowDown").into(),
        };
        let text = BucketError::of(error, &key).to_string();
        assert!(
            text.contains("503 SlowDown") && text.contains("https://s3.example/bucket/"),
            "{text}"
        );
        for part in key.parts() {
            assert!(!text.contains(part.as_ref()), "{text}");
        }
    }

    #[test]
    fn a_listing_that_fails_names_nothing_it_came_upon() {
        let below = "b5kffn5gz7liyc4d5oyrsdxdnfvn3rxcwpmglsqucm72rvhosiima/0123456789abcdef0123456789abcdef/000001-10773071eecc244b.seg";
        let error = object_store::Error::Generic {
            store: "S3",
            source: format!("ServiceUnavailableNow at `{below}`").into(),
        };
        let text = BucketError::of(error, &Path::from("host")).to_string();
        assert!(text.contains("ServiceUnavailableNow at `"), "{text}");
        for part in ["b5kffn5gz7", "0123456789abcdef", "10773071eecc244b"] {
            assert!(!text.contains(part), "{text}");
        }
    }

    #[test]
    fn refusals_are_told_from_what_may_pass() {
        let key = Path::from("a");
        let denied = object_store::Error::PermissionDenied {
            path: "a".to_owned(),
            source: "no".into(),
        };
        assert!(matches!(
            BucketError::of(denied, &key),
            BucketError::Denied(_)
        ));
        let missing = object_store::Error::NotFound {
            path: "a".to_owned(),
            source: "no".into(),
        };
        assert!(matches!(
            BucketError::of(missing, &key),
            BucketError::NotFound
        ));
    }
}
