//! Close codes, and the reasons sent with them (04 §4).

/// Why a socket is closed. Clients decide by the code; reasons are for logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Close {
    /// Either side is done.
    Normal,
    /// No `space` in the query, more than one, or an empty one.
    MissingSpace,
    /// The first message is no well-formed hello.
    ExpectedHello,
    /// A client refuses the node.
    ProtocolError,
    /// The space is not held, the proof fails, or the peer is let go.
    NotAReader,
    /// No hello came in time.
    NoHello,
    /// The same session DID was admitted on another socket.
    Replaced,
    /// The host shuts down.
    ShuttingDown,
    /// Broken or unmasked framing.
    Framing,
    /// Text that is not UTF-8.
    NotUtf8,
    /// Too many malformed data messages.
    Malformed,
    /// A message over a size limit.
    TooBig,
    /// The space could not be opened, after the proof held.
    CouldNotOpen,
    /// The host failed otherwise, after the proof held.
    InternalError,
    /// Full, or a DID replacing itself too often, after the proof held.
    TryAgainLater,
}

impl Close {
    /// The code on the wire.
    pub fn code(self) -> u16 {
        match self {
            Self::Normal => 1000,
            Self::ShuttingDown => 1001,
            Self::Framing => 1002,
            Self::NotUtf8 => 1007,
            Self::Malformed => 1008,
            Self::TooBig => 1009,
            Self::CouldNotOpen | Self::InternalError => 1011,
            Self::TryAgainLater => 1013,
            Self::MissingSpace => 4000,
            Self::ExpectedHello | Self::ProtocolError => 4002,
            Self::NotAReader => 4003,
            Self::NoHello => 4008,
            Self::Replaced => 4009,
        }
    }

    /// The reason on the wire; empty where the text names none.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Normal | Self::Framing | Self::NotUtf8 => "",
            Self::MissingSpace => "missing ?space=",
            Self::ExpectedHello => "expected a hello frame",
            Self::ProtocolError => "protocol error",
            Self::NotAReader => "not a reader of this space",
            Self::NoHello => "no hello",
            Self::Replaced => "replaced by a newer connection",
            Self::ShuttingDown => "node shutting down",
            Self::Malformed => "malformed",
            Self::TooBig => "message too big",
            Self::CouldNotOpen => "could not open space",
            Self::InternalError => "internal error",
            Self::TryAgainLater => "try again later",
        }
    }
}
