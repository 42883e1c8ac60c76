//! The two ends behave alike over a channel and over a stream.

#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use link::channel::TrySendError;
use link::{ConnectionId, FrontEnd, LinkDown, ToFront, ToWorker, WorkerEnd, encoded};
use tokio::io::AsyncWriteExt;

fn gone(number: u64) -> ToWorker {
    ToWorker::Gone {
        connection: ConnectionId(number),
    }
}

fn admitted(number: u64) -> ToFront {
    ToFront::Admitted {
        connection: ConnectionId(number),
    }
}

async fn messages_arrive_in_order_both_ways((front, mut worker): (FrontEnd, WorkerEnd)) {
    let (to_worker, mut from_worker) = front.split();
    let speaking = tokio::spawn(async move {
        for number in 0..5000 {
            to_worker.send(gone(number)).await.unwrap();
        }
        let large = ToWorker::Message {
            connection: ConnectionId(1),
            bytes: Bytes::from(vec![7; link::MAX_MESSAGE_BYTES]),
        };
        to_worker.send(large).await.unwrap();
        to_worker
    });
    for number in 0..5000 {
        assert_eq!(worker.recv().await, Some(gone(number)));
        worker.send(admitted(number)).await.unwrap();
        assert_eq!(from_worker.recv().await, Some(admitted(number)));
    }
    let Some(ToWorker::Message { bytes, .. }) = worker.recv().await else {
        panic!("expected the large message");
    };
    assert_eq!(bytes.len(), link::MAX_MESSAGE_BYTES);
    let to_worker = speaking.await.unwrap();

    // The worker goes: the front-end hears what was said, then that the link is down.
    worker.send(admitted(1)).await.unwrap();
    drop(worker);
    assert_eq!(from_worker.recv().await, Some(admitted(1)));
    assert_eq!(from_worker.recv().await, None);
    loop {
        if to_worker.send(gone(1)).await == Err(LinkDown) {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(to_worker.is_down());
    assert_eq!(
        to_worker.try_send(gone(2)),
        Err(TrySendError::Down(gone(2)))
    );
}

async fn a_front_end_that_goes_is_heard_of((front, mut worker): (FrontEnd, WorkerEnd)) {
    front.send(gone(1)).await.unwrap();
    let (sender, receiver) = front.split();
    drop(sender);
    drop(receiver);
    assert_eq!(worker.recv().await, Some(gone(1)));
    assert_eq!(worker.recv().await, None);
}

#[tokio::test]
async fn a_channel_carries_messages_in_order() {
    messages_arrive_in_order_both_ways(link::pair()).await;
}

#[tokio::test]
async fn a_stream_carries_messages_in_order() {
    messages_arrive_in_order_both_ways(encoded::pair()).await;
}

#[tokio::test]
async fn a_channel_ends_with_the_front_end() {
    a_front_end_that_goes_is_heard_of(link::pair()).await;
}

#[tokio::test]
async fn a_stream_ends_with_the_front_end() {
    a_front_end_that_goes_is_heard_of(encoded::pair()).await;
}

#[tokio::test]
async fn bytes_that_are_no_message_take_the_link_down() {
    let (mut raw, stream) = tokio::io::duplex(1024);
    let mut worker = encoded::worker_end(stream);
    raw.write_all(&[0, 0, 0, 2, 99, 99]).await.unwrap();
    assert_eq!(worker.recv().await, None);
}

#[tokio::test]
async fn a_full_link_says_so() {
    let (front, _worker) = link::pair();
    let mut sent = 0;
    let back = loop {
        match front.try_send(gone(sent)) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(back, TrySendError::Full(gone(sent)));
    assert_eq!(sent, link::channel::LINK_QUEUE as u64);
}
