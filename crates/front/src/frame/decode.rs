//! Frames in: bytes to messages, every limit counted before a byte is kept.

use super::MAX_CONTROL_PAYLOAD;
use super::utf8::Utf8Check;
use bytes::Bytes;
use std::io::Cursor;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{CloseCode, Control, Data, OpCode};

/// The longest header of a frame.
const MAX_HEAD: usize = 14;

/// A message's buffer starts with this much and doubles, whatever length was announced.
const FIRST_RESERVE: usize = 4 << 10;

/// A whole message, or a control frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    /// A text message; its content only while the decoder keeps text.
    Text(Bytes),
    /// A binary message.
    Binary(Bytes),
    /// A ping and what it carried.
    Ping(Bytes),
    /// A pong.
    Pong,
    /// A close and its code.
    Close(Option<u16>),
}

/// Why a socket's bytes are of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameFault {
    /// Framing that breaks RFC 6455, reserved bits and unmasked frames among it.
    #[error("broken framing")]
    Protocol,
    /// Text, or a close's reason, that isn't UTF-8.
    #[error("text that is not UTF-8")]
    NotUtf8,
    /// A message over the limit.
    #[error("a message over the size limit")]
    TooBig,
}

/// Puts messages together from a client's frames.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: usize,
    keep_text: bool,
    keep_binary: bool,
    head: [u8; MAX_HEAD],
    head_len: usize,
    frame: Option<OpenFrame>,
    message: Option<OpenMessage>,
    control: Vec<u8>,
}

/// A frame whose header came and whose payload didn't, or not all of it.
#[derive(Clone, Copy, Debug)]
struct OpenFrame {
    kind: FrameKind,
    is_final: bool,
    mask: [u8; 4],
    left: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Data,
    Control(Control),
}

/// A message of which some frames came.
#[derive(Debug)]
struct OpenMessage {
    is_text: bool,
    /// All its payload so far, kept or not, and what the open frame will add.
    counted: usize,
    kept: Vec<u8>,
    text: Utf8Check,
}

impl Decoder {
    /// A decoder that takes messages of at most `limit` bytes and keeps text.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            keep_text: true,
            keep_binary: true,
            head: [0; MAX_HEAD],
            head_len: 0,
            frame: None,
            message: None,
            control: Vec::new(),
        }
    }

    /// From now on takes messages of at most `limit` bytes, and of text only that there
    /// was one.
    pub(crate) fn admitted(&mut self, limit: usize) {
        self.limit = limit;
        self.keep_text = false;
    }

    /// From now on keeps nothing and looks only for a close.
    pub(crate) fn discard(&mut self) {
        self.limit = usize::MAX;
        self.keep_text = false;
        self.keep_binary = false;
        if let Some(message) = &mut self.message {
            message.kept = Vec::new();
            message.is_text = false;
        }
    }

    /// Whether a frame or a message has begun and isn't whole.
    pub(crate) fn is_amid(&self) -> bool {
        self.head_len > 0 || self.frame.is_some() || self.message.is_some()
    }

    /// Bytes kept of an unfinished message.
    pub(crate) fn kept(&self) -> usize {
        self.message.as_ref().map_or(0, |open| open.kept.capacity())
    }

    /// Takes from the front of `input` up to the end of one message or control frame, or
    /// all of it; `used` is how much. Unmasks in place. After a fault nothing more may be
    /// fed, but after [`FrameFault::TooBig`] to a decoder that discards.
    pub(crate) fn feed(
        &mut self,
        input: &mut [u8],
        used: &mut usize,
    ) -> Result<Option<Incoming>, FrameFault> {
        loop {
            if self.frame.is_none() {
                self.read_head(&input[*used..], used)?;
            }
            let Some(frame) = &mut self.frame else {
                return Ok(None);
            };
            let take = frame.left.min(input.len() - *used);
            let part = &mut input[*used..*used + take];
            unmask(part, &mut frame.mask);
            frame.left -= take;
            *used += take;
            let open = *frame;
            self.keep(open, part)?;
            if open.left > 0 {
                return Ok(None);
            }
            self.frame = None;
            if let Some(incoming) = self.frame_is_whole(open)? {
                return Ok(Some(incoming));
            }
        }
    }

    /// Reads a header, or the part of one that came, and opens its frame.
    fn read_head(&mut self, input: &[u8], used: &mut usize) -> Result<(), FrameFault> {
        let had = self.head_len;
        let copied = input.len().min(MAX_HEAD - had);
        self.head[had..had + copied].copy_from_slice(&input[..copied]);
        self.head_len += copied;
        let mut cursor = Cursor::new(&self.head[..self.head_len]);
        let parsed = FrameHeader::parse(&mut cursor).map_err(|_| FrameFault::Protocol)?;
        let Some((header, length)) = parsed else {
            *used += copied;
            return self.refuse_early();
        };
        *used += cursor.position() as usize - had;
        self.head_len = 0;
        self.open_frame(&header, length)
    }

    /// What is wrong with a header can be seen before all of it came.
    fn refuse_early(&self) -> Result<(), FrameFault> {
        let reserved = self.head_len > 0 && self.head[0] & 0x70 != 0;
        let unmasked = self.head_len > 1 && self.head[1] & 0x80 == 0;
        if reserved || unmasked {
            return Err(FrameFault::Protocol);
        }
        Ok(())
    }

    fn open_frame(&mut self, header: &FrameHeader, length: u64) -> Result<(), FrameFault> {
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(FrameFault::Protocol);
        }
        let mask = header.mask.ok_or(FrameFault::Protocol)?;
        let left = usize::try_from(length).map_err(|_| FrameFault::TooBig)?;
        let (kind, counted) = match header.opcode {
            OpCode::Control(_) if !header.is_final || left > MAX_CONTROL_PAYLOAD => {
                return Err(FrameFault::Protocol);
            }
            OpCode::Control(kind) => (FrameKind::Control(kind), Ok(())),
            OpCode::Data(kind) => (FrameKind::Data, self.count(kind, left)),
        };
        self.frame = Some(OpenFrame {
            kind,
            is_final: header.is_final,
            mask,
            left,
        });
        counted
    }

    /// Counts a data frame into its message before any of it is kept.
    fn count(&mut self, kind: Data, length: usize) -> Result<(), FrameFault> {
        match (kind, &self.message) {
            (Data::Continue, Some(_)) | (Data::Text | Data::Binary, None) => {}
            _ => return Err(FrameFault::Protocol),
        }
        let message = self.message.get_or_insert_with(|| OpenMessage {
            is_text: kind == Data::Text,
            counted: 0,
            kept: Vec::new(),
            text: Utf8Check::default(),
        });
        let left = self.limit.saturating_sub(message.counted);
        message.counted = message.counted.saturating_add(length);
        if length > left {
            return Err(FrameFault::TooBig);
        }
        Ok(())
    }

    fn keep(&mut self, frame: OpenFrame, part: &[u8]) -> Result<(), FrameFault> {
        if let FrameKind::Control(_) = frame.kind {
            self.control.extend_from_slice(part);
            return Ok(());
        }
        let Some(message) = &mut self.message else {
            return Ok(());
        };
        if message.is_text && !message.text.goes_on(part) {
            return Err(FrameFault::NotUtf8);
        }
        let keep = match message.is_text {
            true => self.keep_text,
            false => self.keep_binary,
        };
        if !keep {
            return Ok(());
        }
        let kept = &mut message.kept;
        if kept.capacity() - kept.len() < part.len() {
            // Doubles with what came, and no further than the message can go: to the end
            // of its last frame, or to the limit while more frames follow. In many small
            // frames it would otherwise be moved at each of them.
            let more = kept.len().max(FIRST_RESERVE).max(part.len());
            let at_most = match frame.is_final {
                true => part.len() + frame.left,
                false => self.limit.saturating_sub(kept.len()).max(part.len()),
            };
            kept.reserve_exact(more.min(at_most));
        }
        kept.extend_from_slice(part);
        Ok(())
    }

    fn frame_is_whole(&mut self, frame: OpenFrame) -> Result<Option<Incoming>, FrameFault> {
        if let FrameKind::Control(kind) = frame.kind {
            let payload = std::mem::take(&mut self.control);
            return control_frame(kind, payload).map(Some);
        }
        if !frame.is_final {
            return Ok(None);
        }
        let Some(message) = self.message.take() else {
            return Ok(None);
        };
        if message.is_text && !message.text.may_end() {
            return Err(FrameFault::NotUtf8);
        }
        let mut kept = message.kept;
        // A fragmented message may have grown past its end.
        kept.shrink_to_fit();
        let bytes = Bytes::from(kept);
        Ok(Some(match message.is_text {
            true => Incoming::Text(bytes),
            false => Incoming::Binary(bytes),
        }))
    }
}

fn control_frame(kind: Control, payload: Vec<u8>) -> Result<Incoming, FrameFault> {
    match kind {
        Control::Ping => Ok(Incoming::Ping(payload.into())),
        Control::Pong => Ok(Incoming::Pong),
        Control::Close => close_code(&payload).map(Incoming::Close),
        Control::Reserved(_) => Err(FrameFault::Protocol),
    }
}

fn close_code(payload: &[u8]) -> Result<Option<u16>, FrameFault> {
    match payload {
        [] => Ok(None),
        [_] => Err(FrameFault::Protocol),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            if !CloseCode::from(code).is_allowed() {
                return Err(FrameFault::Protocol);
            }
            if std::str::from_utf8(reason).is_err() {
                return Err(FrameFault::NotUtf8);
            }
            Ok(Some(code))
        }
    }
}

/// Undoes the masking of `part` and turns the mask so that it goes on from there.
fn unmask(part: &mut [u8], mask: &mut [u8; 4]) {
    let eight = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let mut chunks = part.chunks_exact_mut(8);
    for chunk in &mut chunks {
        if let Ok(bytes) = <[u8; 8]>::try_from(&*chunk) {
            chunk.copy_from_slice(&(u64::from_ne_bytes(bytes) ^ eight).to_ne_bytes());
        }
    }
    for (byte, mask) in chunks.into_remainder().iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    mask.rotate_left(part.len() % 4);
}
