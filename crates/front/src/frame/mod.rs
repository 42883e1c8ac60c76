//! The WebSocket's frames, as bytes go in and out (RFC 6455, 04 §4).
//!
//! Headers are read and written by `tungstenite`; what is made of them is here, so that
//! sizes are counted before anything is kept and nothing is kept that isn't needed
//! (docs/decisions/0003).

mod decode;
mod encode;
mod utf8;

#[cfg(test)]
mod tests;

pub(crate) use decode::{Decoder, FrameFault, Incoming};
pub(crate) use encode::{close_frame, data_frame_head, ping_frame, pong_frame};

/// The longest payload of a control frame.
pub(crate) const MAX_CONTROL_PAYLOAD: usize = 125;
