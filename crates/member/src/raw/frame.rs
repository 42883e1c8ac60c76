//! WebSocket frames by hand (RFC 6455 §5), well-formed or not.

/// A frame to send, every part of it as told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawFrame {
    /// Whether it ends its message.
    pub fin: bool,
    /// The three reserved bits, 0 to 7.
    pub reserved: u8,
    /// The opcode, 0 to 15.
    pub opcode: u8,
    /// The mask; `None` sends it unmasked, as a client must not.
    pub mask: Option<[u8; 4]>,
    /// What the header says the length is, where that isn't the payload's.
    pub claimed_length: Option<u64>,
    /// The payload, not masked yet.
    pub payload: Vec<u8>,
}

/// Opcodes.
pub const CONTINUATION: u8 = 0;
/// A text message.
pub const TEXT: u8 = 1;
/// A binary message.
pub const BINARY: u8 = 2;
/// A close.
pub const CLOSE: u8 = 8;
/// A ping.
pub const PING: u8 = 9;
/// A pong.
pub const PONG: u8 = 10;

/// The mask used where a test doesn't care. That it is always the same harms no one here: a mask
/// guards proxies against a browser's scripts.
pub const USUAL_MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

impl RawFrame {
    /// A well-formed whole message.
    pub fn new(opcode: u8, payload: impl Into<Vec<u8>>) -> RawFrame {
        RawFrame {
            fin: true,
            reserved: 0,
            opcode,
            mask: Some(USUAL_MASK),
            claimed_length: None,
            payload: payload.into(),
        }
    }

    /// A close with a code and a reason.
    pub fn close(code: u16, reason: &str) -> RawFrame {
        let mut payload = code.to_be_bytes().to_vec();
        payload.extend_from_slice(reason.as_bytes());
        RawFrame::new(CLOSE, payload)
    }

    /// A message in fragments of `size` bytes, at least 1.
    pub fn fragments(opcode: u8, payload: &[u8], size: usize) -> Vec<RawFrame> {
        let mut frames: Vec<RawFrame> = payload
            .chunks(size.max(1))
            .map(|chunk| RawFrame {
                fin: false,
                ..RawFrame::new(CONTINUATION, chunk)
            })
            .collect();
        if frames.is_empty() {
            frames.push(RawFrame::new(CONTINUATION, []));
        }
        if let Some(first) = frames.first_mut() {
            first.opcode = opcode;
        }
        if let Some(last) = frames.last_mut() {
            last.fin = true;
        }
        frames
    }

    /// The bytes on the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.payload.len() + 14);
        bytes.push(u8::from(self.fin) << 7 | (self.reserved & 7) << 4 | self.opcode & 15);
        let length = self.claimed_length.unwrap_or(self.payload.len() as u64);
        let masked = if self.mask.is_some() { 0x80 } else { 0 };
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(short @ ..126), _) => bytes.push(masked | short),
            (_, Ok(middle)) => {
                bytes.push(masked | 126);
                bytes.extend_from_slice(&middle.to_be_bytes());
            }
            _ => {
                bytes.push(masked | 127);
                bytes.extend_from_slice(&length.to_be_bytes());
            }
        }
        match self.mask {
            None => bytes.extend_from_slice(&self.payload),
            Some(mask) => {
                bytes.extend_from_slice(&mask);
                let masked = self.payload.iter().zip(mask.iter().cycle());
                bytes.extend(masked.map(|(byte, mask)| byte ^ mask));
            }
        }
        bytes
    }
}

/// A frame that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// Whether it ends its message.
    pub fin: bool,
    /// The three reserved bits.
    pub reserved: u8,
    /// The opcode.
    pub opcode: u8,
    /// Whether it was masked, as a server must not.
    pub was_masked: bool,
    /// The payload, unmasked.
    pub payload: Vec<u8>,
}

/// The first frame in `bytes` and how many bytes it takes; `None` where it isn't whole yet.
pub fn read_frame(bytes: &[u8]) -> Option<(ReceivedFrame, usize)> {
    let (&[first, second], rest) = bytes.split_first_chunk::<2>()?;
    let was_masked = second & 0x80 != 0;
    let (length, rest) = match second & 0x7f {
        126 => {
            let (length, rest) = rest.split_first_chunk()?;
            (u64::from(u16::from_be_bytes(*length)), rest)
        }
        127 => {
            let (length, rest) = rest.split_first_chunk()?;
            (u64::from_be_bytes(*length), rest)
        }
        short => (u64::from(short), rest),
    };
    let (mask, rest) = if was_masked {
        let (mask, rest) = rest.split_first_chunk()?;
        (*mask, rest)
    } else {
        ([0; 4], rest)
    };
    let payload = rest.get(..usize::try_from(length).ok()?)?;
    let taken = bytes.len() - rest.len() + payload.len();
    let frame = ReceivedFrame {
        fin: first & 0x80 != 0,
        reserved: first >> 4 & 7,
        opcode: first & 15,
        was_masked,
        payload: payload
            .iter()
            .zip(mask.iter().cycle())
            .map(|(byte, mask)| byte ^ mask)
            .collect(),
    };
    Some((frame, taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_examples_of_rfc_6455_come_out() {
        let masked = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ];
        assert_eq!(RawFrame::new(TEXT, "Hello").bytes(), masked);
        let unmasked = RawFrame {
            mask: None,
            ..RawFrame::new(TEXT, "Hello")
        };
        assert_eq!(unmasked.bytes(), [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
        let parts: Vec<Vec<u8>> = RawFrame::fragments(TEXT, b"Hello", 3)
            .into_iter()
            .map(|frame| {
                RawFrame {
                    mask: None,
                    ..frame
                }
                .bytes()
            })
            .collect();
        assert_eq!(parts, [&b"\x01\x03Hel"[..], b"\x80\x02lo"]);
    }

    proptest! {
        #[test]
        fn a_frame_reads_back_as_it_was_written(
            length in prop_oneof![0usize..130, 65_530usize..65_540, 70_000usize..70_001],
            fin: bool,
            opcode in 0u8..16,
            reserved in 0u8..8,
            mask: Option<[u8; 4]>,
        ) {
            let payload: Vec<u8> = (0..length).map(|byte| byte as u8).collect();
            let frame = RawFrame { fin, reserved, opcode, mask, claimed_length: None, payload };
            let bytes = frame.bytes();
            prop_assert_eq!(read_frame(&bytes[..bytes.len() - 1]), None);
            let (read, taken) = read_frame(&bytes).unwrap();
            prop_assert_eq!(taken, bytes.len());
            prop_assert_eq!(
                (read.fin, read.reserved, read.opcode, read.was_masked, read.payload),
                (fin, reserved, opcode, mask.is_some(), frame.payload)
            );
        }
    }
}
