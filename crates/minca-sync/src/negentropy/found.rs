//! What an initiator finds.

/// Ids an initiator found, in the order the rounds give them: oldest first.
/// An id may be named in more than one round (05 §3.4).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Ids held here that the other side lacks.
    pub have: Vec<[u8; 32]>,
    /// Ids the other side holds that are lacking here.
    pub need: Vec<[u8; 32]>,
}
