//! The decoder against tungstenite's, and against anything.

use super::{Decoder, FrameFault, Incoming};
use bytes::Bytes;
use proptest::prelude::*;
use tungstenite::Message;
use tungstenite::protocol::frame::FrameHeader;
use tungstenite::protocol::frame::coding::{Control, Data, OpCode};
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};

const LIMIT: usize = 2000;

/// One of a client's frames.
#[derive(Clone, Debug)]
struct Sent {
    opcode: OpCode,
    is_final: bool,
    payload: Vec<u8>,
}

/// Frames that follow the rules: messages in fragments, control frames between them.
fn lawful_frames() -> impl Strategy<Value = Vec<Sent>> {
    let fragments = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5);
    let control = prop::option::of((any::<bool>(), prop::collection::vec(any::<u8>(), 0..125)));
    let message = (fragments, control).prop_map(|(fragments, control)| {
        let last = fragments.len() - 1;
        let mut frames = Vec::new();
        for (place, payload) in fragments.into_iter().enumerate() {
            let kind = if place == 0 {
                Data::Binary
            } else {
                Data::Continue
            };
            frames.push(Sent {
                opcode: OpCode::Data(kind),
                is_final: place == last,
                payload,
            });
            if place == 0
                && let Some((is_ping, payload)) = &control
            {
                let kind = if *is_ping {
                    Control::Ping
                } else {
                    Control::Pong
                };
                frames.push(Sent {
                    opcode: OpCode::Control(kind),
                    is_final: true,
                    payload: payload.clone(),
                });
            }
        }
        frames
    });
    prop::collection::vec(message, 0..6).prop_map(|messages| messages.concat())
}

fn written(frames: &[Sent], mask: [u8; 4]) -> Vec<u8> {
    let mut out = Vec::new();
    for frame in frames {
        let header = FrameHeader {
            is_final: frame.is_final,
            opcode: frame.opcode,
            mask: Some(mask),
            ..FrameHeader::default()
        };
        header.format(frame.payload.len() as u64, &mut out).unwrap();
        let masked = frame.payload.iter().zip(mask.iter().cycle());
        out.extend(masked.map(|(byte, mask)| byte ^ mask));
    }
    out
}

/// Feeds `bytes` in pieces of these sizes.
fn decode(
    decoder: &mut Decoder,
    bytes: &[u8],
    pieces: &[usize],
) -> Result<Vec<Incoming>, FrameFault> {
    let mut decoded = Vec::new();
    let mut sizes = pieces.iter().copied().chain(std::iter::repeat(bytes.len()));
    let mut rest = bytes;
    while !rest.is_empty() {
        let size = sizes.next().unwrap_or(1).clamp(1, rest.len());
        let (piece, after) = rest.split_at(size);
        rest = after;
        let mut piece = piece.to_vec();
        let mut from = 0;
        while from < piece.len() {
            let mut used = 0;
            let incoming = decoder.feed(&mut piece[from..], &mut used)?;
            from += used;
            decoded.extend(incoming);
        }
    }
    Ok(decoded)
}

/// What tungstenite makes of the bytes.
fn second_opinion(bytes: &[u8]) -> (Vec<Incoming>, bool) {
    let stream = std::io::Cursor::new(Vec::new());
    let config = WebSocketConfig::default()
        .max_message_size(Some(LIMIT))
        .max_frame_size(Some(LIMIT));
    let mut socket =
        WebSocket::from_partially_read(stream, bytes.to_vec(), Role::Server, Some(config));
    let mut read = Vec::new();
    loop {
        read.push(match socket.read() {
            Ok(Message::Text(text)) => Incoming::Text(Bytes::from(text)),
            Ok(Message::Binary(bytes)) => Incoming::Binary(bytes),
            Ok(Message::Ping(payload)) => Incoming::Ping(payload),
            Ok(Message::Pong(_)) => Incoming::Pong,
            Ok(Message::Close(_) | Message::Frame(_)) => return (read, true),
            // What the pongs are written to is the stream that is read.
            Err(tungstenite::Error::Protocol(
                tungstenite::error::ProtocolError::ResetWithoutClosingHandshake,
            )) => return (read, true),
            Err(_) => return (read, false),
        });
    }
}

proptest! {
    #[test]
    fn messages_come_out_as_tungstenite_puts_them_together(
        frames in lawful_frames(),
        mask in any::<[u8; 4]>(),
        pieces in prop::collection::vec(1usize..400, 0..40),
    ) {
        // tungstenite takes no pings here: it would answer into what it reads.
        let frames: Vec<Sent> = frames
            .into_iter()
            .filter(|frame| frame.opcode != OpCode::Control(Control::Ping))
            .collect();
        let bytes = written(&frames, mask);
        let mut decoder = Decoder::new(LIMIT);
        let decoded = decode(&mut decoder, &bytes, &pieces).unwrap();
        prop_assert_eq!(second_opinion(&bytes), (decoded, true));
        prop_assert!(!decoder.is_amid());
        prop_assert_eq!(decoder.kept(), 0);
    }

    #[test]
    fn pings_and_messages_come_out_in_order_whole(
        frames in lawful_frames(),
        mask in any::<[u8; 4]>(),
        pieces in prop::collection::vec(1usize..400, 0..40),
    ) {
        let mut expected = Vec::new();
        let mut message = Vec::new();
        for frame in &frames {
            match frame.opcode {
                OpCode::Control(Control::Ping) => {
                    expected.push(Incoming::Ping(frame.payload.clone().into()));
                }
                OpCode::Control(_) => expected.push(Incoming::Pong),
                OpCode::Data(_) => {
                    message.extend_from_slice(&frame.payload);
                    if frame.is_final {
                        expected.push(Incoming::Binary(std::mem::take(&mut message).into()));
                    }
                }
            }
        }
        let bytes = written(&frames, mask);
        let decoded = decode(&mut Decoder::new(LIMIT), &bytes, &pieces).unwrap();
        prop_assert_eq!(decoded, expected);
    }

    #[test]
    fn arbitrary_bytes_neither_panic_nor_are_kept_beyond_the_limit(
        bytes in prop::collection::vec(
            prop_oneof![Just(0x82u8), Just(0x02), Just(0x80), Just(0x00), Just(0x81), any::<u8>()],
            0..3000,
        ),
        pieces in prop::collection::vec(1usize..100, 0..40),
        admitted in any::<bool>(),
    ) {
        let mut decoder = Decoder::new(LIMIT);
        if admitted {
            decoder.admitted(LIMIT);
        }
        let whole = decode(&mut decoder, &bytes, &[]);
        prop_assert!(decoder.kept() <= LIMIT);
        // However the stream is cut, the same comes of it.
        let mut decoder = Decoder::new(LIMIT);
        if admitted {
            decoder.admitted(LIMIT);
        }
        prop_assert_eq!(decode(&mut decoder, &bytes, &pieces), whole);
    }

    #[test]
    fn the_sum_of_fragments_counts_at_the_header_that_goes_over(
        sizes in prop::collection::vec(0usize..900, 1..8),
    ) {
        let mut decoder = Decoder::new(LIMIT);
        let mut sum = 0;
        for (place, size) in sizes.into_iter().enumerate() {
            let kind = if place == 0 { Data::Binary } else { Data::Continue };
            let frame = Sent { opcode: OpCode::Data(kind), is_final: false, payload: vec![0; size] };
            let bytes = written(&[frame], [0; 4]);
            let head = bytes.len() - size;
            sum += size;
            let fed = decode(&mut decoder, &bytes[..head], &[]);
            if sum > LIMIT {
                prop_assert_eq!(fed, Err(FrameFault::TooBig));
                prop_assert!(decoder.kept() <= LIMIT);
                return Ok(());
            }
            prop_assert_eq!(fed, Ok(vec![]));
            prop_assert_eq!(decode(&mut decoder, &bytes[head..], &[]), Ok(vec![]));
        }
    }
}

#[test]
fn an_announced_length_reserves_nothing() {
    let mut decoder = Decoder::new(16 << 20);
    let mut bytes = vec![0x82, 0xff, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4];
    bytes.push(0);
    let mut used = 0;
    assert_eq!(decoder.feed(&mut bytes, &mut used), Ok(None));
    assert!(decoder.kept() <= 4096, "{}", decoder.kept());
}

#[test]
fn text_is_kept_before_admission_only() {
    let frame = Sent {
        opcode: OpCode::Data(Data::Text),
        is_final: true,
        payload: b"hello".to_vec(),
    };
    let bytes = written(&[frame], [7; 4]);
    let mut decoder = Decoder::new(LIMIT);
    let kept = decode(&mut decoder, &bytes, &[]);
    assert_eq!(kept, Ok(vec![Incoming::Text("hello".into())]));
    decoder.admitted(LIMIT);
    let dropped = decode(&mut decoder, &bytes, &[]);
    assert_eq!(dropped, Ok(vec![Incoming::Text(Bytes::new())]));
}

#[test]
fn a_decoder_that_discards_passes_over_what_was_too_big_and_finds_the_close() {
    let big = Sent {
        opcode: OpCode::Data(Data::Binary),
        is_final: true,
        payload: vec![0; LIMIT + 1],
    };
    let close = Sent {
        opcode: OpCode::Control(Control::Close),
        is_final: true,
        payload: vec![3, 232],
    };
    let mut bytes = written(&[big, close], [9; 4]);
    let mut decoder = Decoder::new(LIMIT);
    let mut used = 0;
    assert_eq!(decoder.feed(&mut bytes, &mut used), Err(FrameFault::TooBig));
    decoder.discard();
    let rest = bytes.split_off(used);
    let found = decode(&mut decoder, &rest, &[100]);
    assert_eq!(
        found,
        Ok(vec![
            Incoming::Binary(Bytes::new()),
            Incoming::Close(Some(1000))
        ])
    );
    assert_eq!(decoder.kept(), 0);
}

/// Frames are what tungstenite's client side reads.
#[test]
fn what_the_host_writes_a_client_reads() {
    let mut bytes = Vec::new();
    for size in [0, 125, 126, 65_535, 65_536] {
        bytes.extend_from_slice(&super::data_frame_head(Data::Binary, size));
        bytes.extend(vec![1; size]);
    }
    bytes.extend_from_slice(&super::pong_frame(b"payload"));
    bytes.extend_from_slice(&super::close_frame(Some((4003, "reason"))));
    let stream = std::io::Cursor::new(Vec::new());
    let mut socket = WebSocket::from_partially_read(stream, bytes, Role::Client, None);
    for size in [0, 125, 126, 65_535, 65_536] {
        assert_eq!(socket.read().unwrap(), Message::binary(vec![1; size]));
    }
    assert_eq!(socket.read().unwrap(), Message::Pong("payload".into()));
    let Message::Close(Some(close)) = socket.read().unwrap() else {
        panic!("expected a close");
    };
    assert_eq!(
        (u16::from(close.code), close.reason.as_str()),
        (4003, "reason")
    );
}

#[test]
fn a_message_in_many_small_frames_is_moved_few_times() {
    let mut decoder = Decoder::new(1 << 20);
    let mut weighed = std::collections::BTreeSet::new();
    for number in 0..100_000_u32 {
        let opcode = if number == 0 { 0x02 } else { 0x00 };
        let mut frame = [opcode, 0x81, 0, 0, 0, 0, 7];
        let mut used = 0;
        assert!(decoder.feed(&mut frame, &mut used).unwrap().is_none());
        weighed.insert(decoder.kept());
    }
    assert!(weighed.len() < 20, "{} sizes", weighed.len());
    let largest = weighed.last().copied().unwrap();
    assert!((100_000..=200_000).contains(&largest), "{largest}");
}
