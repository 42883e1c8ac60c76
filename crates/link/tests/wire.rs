//! Every message comes back from its bytes, and no bytes do harm.

#![allow(clippy::unwrap_used)]

use bytes::{Bytes, BytesMut};
use link::wire::{LENGTH_BYTES, MAX_FRAME_BYTES, WIRE_VERSION, Wire, WireError, frame_length};
use link::{ConnectionId, DoorAnswer, MAX_MESSAGE_BYTES, ToFront, ToWorker};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::signing::SigningKey;
use proptest::prelude::*;

fn dids() -> impl Strategy<Value = Did> {
    (1u8..=255)
        .prop_map(|byte| SigningKey::from_scalar(&[byte; 32]))
        .prop_filter_map("a scalar", |key| key.ok().map(|key| key.did()))
}

fn spaces() -> impl Strategy<Value = ContentId> {
    any::<[u8; 32]>().prop_map(ContentId::from_digest)
}

fn connections() -> impl Strategy<Value = ConnectionId> {
    any::<u64>().prop_map(ConnectionId)
}

fn peer_messages() -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..300).prop_map(Bytes::from)
}

fn to_worker() -> impl Strategy<Value = ToWorker> {
    prop_oneof![
        (any::<u64>(), spaces()).prop_map(|(ask, space)| ToWorker::Ask { ask, space }),
        (connections(), spaces(), dids(), prop::option::of(dids())).prop_map(
            |(connection, space, peer, read_key)| ToWorker::Admit {
                connection,
                space,
                peer,
                read_key
            }
        ),
        (connections(), peer_messages())
            .prop_map(|(connection, bytes)| ToWorker::Message { connection, bytes }),
        (connections(), any::<u32>())
            .prop_map(|(connection, bytes)| ToWorker::Room { connection, bytes }),
        connections().prop_map(|connection| ToWorker::Gone { connection }),
    ]
}

fn doors() -> impl Strategy<Value = DoorAnswer> {
    prop_oneof![
        Just(DoorAnswer::NotHeld),
        Just(DoorAnswer::Public),
        dids().prop_map(|read_key| DoorAnswer::Private { read_key }),
    ]
}

fn to_front() -> impl Strategy<Value = ToFront> {
    prop_oneof![
        (any::<u64>(), doors()).prop_map(|(ask, door)| ToFront::Door { ask, door }),
        connections().prop_map(|connection| ToFront::Admitted { connection }),
        (connections(), any::<u16>())
            .prop_map(|(connection, code)| ToFront::Refused { connection, code }),
        (connections(), peer_messages())
            .prop_map(|(connection, bytes)| ToFront::Send { connection, bytes }),
        (connections(), any::<u32>())
            .prop_map(|(connection, bytes)| ToFront::Room { connection, bytes }),
        (connections(), any::<u16>())
            .prop_map(|(connection, code)| ToFront::Close { connection, code }),
    ]
}

/// What stands after the length, once the length was found right.
fn frame_of(message: &impl Wire) -> Bytes {
    let mut out = BytesMut::new();
    message.write(&mut out);
    let prefix = out.split_to(LENGTH_BYTES);
    let length = frame_length([prefix[0], prefix[1], prefix[2], prefix[3]]);
    assert_eq!(length, Ok(out.len()));
    out.freeze()
}

proptest! {
    #[test]
    fn what_a_front_end_says_comes_back_from_its_bytes(message in to_worker()) {
        prop_assert_eq!(ToWorker::read(frame_of(&message)), Ok(message));
    }

    #[test]
    fn what_a_worker_says_comes_back_from_its_bytes(message in to_front()) {
        prop_assert_eq!(ToFront::read(frame_of(&message)), Ok(message));
    }

    #[test]
    fn arbitrary_bytes_are_a_message_or_an_error(
        version in prop_oneof![Just(WIRE_VERSION), any::<u8>()],
        tag in prop_oneof![0u8..8, 60u8..75, any::<u8>()],
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = vec![version, tag];
        bytes.extend(rest);
        let frame = Bytes::from(bytes);
        if let Ok(message) = ToWorker::read(frame.clone()) {
            prop_assert_eq!(frame_of(&message), frame.clone());
        }
        if let Ok(message) = ToFront::read(frame.clone()) {
            prop_assert_eq!(frame_of(&message), frame);
        }
    }

    #[test]
    fn a_frame_cut_short_is_refused_or_is_a_shorter_message(message in to_worker(), keep in 0usize..60) {
        let frame = frame_of(&message);
        let cut = frame.slice(..keep.min(frame.len().saturating_sub(1)));
        match ToWorker::read(cut) {
            Err(WireError::Short(_)) => {}
            // A peer's message is whatever is left.
            Ok(ToWorker::Message { .. }) => {}
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn another_version_a_foreign_tag_and_a_byte_too_many_are_named() {
    assert_eq!(
        ToWorker::read(Bytes::from_static(&[9, 5])),
        Err(WireError::Version(9))
    );
    assert_eq!(
        ToFront::read(frame_of(&ToWorker::Gone {
            connection: ConnectionId(1)
        })),
        Err(WireError::Tag(5))
    );
    let mut long = frame_of(&ToWorker::Gone {
        connection: ConnectionId(1),
    })
    .to_vec();
    long.push(0);
    assert_eq!(ToWorker::read(long.into()), Err(WireError::Long(1)));
}

#[test]
fn the_largest_message_passes_and_one_byte_more_does_not() {
    let largest = ToWorker::Message {
        connection: ConnectionId(7),
        bytes: Bytes::from(vec![1; MAX_MESSAGE_BYTES]),
    };
    assert_eq!(ToWorker::read(frame_of(&largest)), Ok(largest));
    let mut over = vec![WIRE_VERSION, 3];
    over.extend([0; 8]);
    over.extend(vec![1; MAX_MESSAGE_BYTES + 1]);
    assert_eq!(
        ToWorker::read(over.into()),
        Err(WireError::TooLong(MAX_MESSAGE_BYTES + 1))
    );
    let announced = (MAX_FRAME_BYTES as u32 + 1).to_be_bytes();
    assert_eq!(
        frame_length(announced),
        Err(WireError::TooLong(MAX_FRAME_BYTES + 1))
    );
}
