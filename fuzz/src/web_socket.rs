//! The WebSocket's frames as the front-end reads them, before anyone has proved anything: what comes
//! out is the same however the bytes are cut, and nothing is kept beyond the limit.
//!
//! The first byte says in which state of a socket they come and how they are cut.

use crate::frame::{Decoder, FrameFault, Incoming};

/// Small enough to be met.
const LIMIT: usize = 600;

/// How a stream of bytes was taken.
#[derive(Debug, PartialEq)]
struct Taken {
    incoming: Vec<Incoming>,
    fault: Option<FrameFault>,
    is_amid: bool,
}

/// One run.
pub fn run(data: &[u8]) {
    let Some((first, stream)) = data.split_first() else {
        return;
    };
    let [state, piece] = [first & 3, first >> 2];
    let whole = take(state, stream, stream.len().max(1));
    assert_eq!(take(state, stream, usize::from(piece) + 1), whole);
    for incoming in &whole.incoming {
        let (Incoming::Text(bytes) | Incoming::Binary(bytes) | Incoming::Ping(bytes)) = incoming
        else {
            continue;
        };
        assert!(bytes.len() <= LIMIT);
        if let Incoming::Text(text) = incoming {
            assert!(std::str::from_utf8(text).is_ok());
            assert!(
                state == 0 || text.is_empty(),
                "text is kept before the proof only"
            );
        }
    }
}

fn take(state: u8, stream: &[u8], piece: usize) -> Taken {
    let mut decoder = Decoder::new(LIMIT);
    match state {
        0 => {}
        1 | 2 => decoder.admitted(LIMIT),
        _ => decoder.discard(),
    }
    let mut incoming = Vec::new();
    let mut fault = None;
    for piece in stream.chunks(piece) {
        let mut piece = piece.to_vec();
        let mut used = 0;
        while used < piece.len() && fault.is_none() {
            let before = used;
            match decoder.feed(&mut piece, &mut used) {
                Ok(Some(one)) => incoming.push(one),
                Ok(None) => assert_eq!(used, piece.len(), "all is taken"),
                Err(found) => fault = Some(found),
            }
            assert!(used > before || fault.is_some());
            assert!(decoder.kept() <= LIMIT);
        }
    }
    let is_amid = fault.is_none() && decoder.is_amid();
    Taken {
        incoming,
        fault,
        is_amid,
    }
}
