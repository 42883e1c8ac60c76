//! Frames out: unmasked, whole, never compressed.

use super::MAX_CONTROL_PAYLOAD;
use bytes::Bytes;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

fn head(opcode: OpCode, payload: usize, out: &mut Vec<u8>) {
    let header = FrameHeader {
        opcode,
        ..FrameHeader::default()
    };
    // Writing into memory doesn't fail.
    let _ = header.format(payload as u64, out);
}

/// The header of a frame that holds a whole message of `payload` bytes.
pub(crate) fn data_frame_head(kind: Data, payload: usize) -> Bytes {
    let mut out = Vec::with_capacity(10);
    head(OpCode::Data(kind), payload, &mut out);
    out.into()
}

fn control(kind: Control, payload: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(2 + payload.len());
    head(OpCode::Control(kind), payload.len(), &mut out);
    out.extend_from_slice(payload);
    out.into()
}

/// An empty ping.
pub(crate) fn ping_frame() -> Bytes {
    control(Control::Ping, &[])
}

/// The answer to a ping that carried `payload`.
pub(crate) fn pong_frame(payload: &[u8]) -> Bytes {
    control(Control::Pong, payload)
}

/// A close, with a code and a reason or with nothing.
pub(crate) fn close_frame(code: Option<(u16, &str)>) -> Bytes {
    let mut payload = Vec::new();
    if let Some((code, reason)) = code {
        payload.extend_from_slice(&code.to_be_bytes());
        payload.extend_from_slice(reason.as_bytes());
    }
    debug_assert!(payload.len() <= MAX_CONTROL_PAYLOAD);
    control(Control::Close, &payload)
}
