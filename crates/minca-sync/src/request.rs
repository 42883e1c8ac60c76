//! The target of an upgrade: `/peer?space=…` (04 §5.1, §5.3 step 1).

use percent_encoding::percent_decode_str;

/// What an upgrade asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The node, for the space with this id. It may be no space id: it is
    /// challenged like any, and refused afterwards.
    Peer {
        /// The `space` parameter, decoded.
        space: String,
    },
    /// The node, without exactly one space that is not empty: closed
    /// [`MissingSpace`](crate::close::Close::MissingSpace), with no challenge.
    MissingSpace,
    /// Any other path: the relay's, where there is one.
    Other,
}

impl Target {
    /// Reads a request's target as it was sent. The path is compared byte for
    /// byte; parameters other than `space` are ignored.
    pub fn read(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if path != "/peer" {
            return Self::Other;
        }
        let mut spaces = spaces(query);
        match (spaces.next(), spaces.next()) {
            (Some(space), None) if !space.is_empty() => Self::Peer { space },
            _ => Self::MissingSpace,
        }
    }
}

/// The values of the `space` parameters of a query, which is encoded as forms
/// are.
pub(crate) fn spaces(query: &str) -> impl Iterator<Item = String> + '_ {
    query
        .split('&')
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .filter(|(name, _)| decode(name) == "space")
        .map(|(_, value)| decode(value))
}

fn decode(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
