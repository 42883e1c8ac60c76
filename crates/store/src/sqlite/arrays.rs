//! Many values as one that SQLite can bind: it has no arrays.

use minca_record::content_id::ContentId;
use minca_record::hex;

/// Ids as one bound value: a JSON array of hex, for `unhex(value)` over `json_each`.
pub(super) fn ids_json<'a>(ids: impl IntoIterator<Item = &'a ContentId>) -> String {
    blobs_json(ids.into_iter().map(|id| id.digest().as_slice()))
}

/// Byte strings as one bound value, as [`ids_json`].
pub(super) fn blobs_json<B: AsRef<[u8]>>(blobs: impl IntoIterator<Item = B>) -> String {
    let mut json = String::from("[");
    for blob in blobs {
        if json.len() > 1 {
            json.push(',');
        }
        json.push('"');
        json.push_str(&hex::encode(blob.as_ref()));
        json.push('"');
    }
    json.push(']');
    json
}

/// Texts as one bound value: a JSON array, for `value` over `json_each`.
pub(super) fn texts_json<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let values = texts
        .into_iter()
        .map(|text| serde_json::Value::from(text.as_ref()));
    serde_json::Value::Array(values.collect()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_as_json() {
        assert_eq!(texts_json(["a\"b", "ü\\"]), r#"["a\"b","ü\\"]"#);
        assert_eq!(texts_json([""; 0]), "[]");
    }
}
