//! The target of an upgrade: `/peer?space=…` (04 §5.1, §5.3 step 1).

use minca_record::url::space_parameters;

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
        let mut spaces = space_parameters(query);
        match (spaces.next(), spaces.next()) {
            (Some(space), None) if !space.is_empty() => Self::Peer { space },
            _ => Self::MissingSpace,
        }
    }
}
