//! The link's messages: any frame is taken, and one that reads is the only form of its message.

use bytes::{Bytes, BytesMut};
use link::wire::{LENGTH_BYTES, MAX_FRAME_BYTES, Wire, frame_length};
use link::{ToFront, ToWorker};

/// One run: the bytes as a frame of either direction, and as a stream of frames.
pub fn run(data: &[u8]) {
    one::<ToWorker>(data);
    one::<ToFront>(data);
    let mut rest = data;
    while let Some((prefix, after)) = rest.split_first_chunk::<LENGTH_BYTES>() {
        let Ok(length) = frame_length(*prefix) else {
            return;
        };
        assert!(length <= MAX_FRAME_BYTES);
        let Some((frame, after)) = after.split_at_checked(length) else {
            return;
        };
        one::<ToWorker>(frame);
        one::<ToFront>(frame);
        rest = after;
    }
}

fn one<M: Wire + PartialEq + std::fmt::Debug>(frame: &[u8]) {
    let Ok(message) = M::read(Bytes::copy_from_slice(frame)) else {
        return;
    };
    let mut written = BytesMut::from(&b"before"[..]);
    message.write(&mut written);
    let written = &written[b"before".len()..];
    let (prefix, again) = written
        .split_first_chunk::<LENGTH_BYTES>()
        .expect("a length");
    assert_eq!(frame_length(*prefix), Ok(frame.len()));
    assert_eq!(again, frame, "one form");
}
