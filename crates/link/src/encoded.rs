//! A link over a byte stream: every message goes through its byte form.
//!
//! A task per end carries the messages between the end's queues and the stream. A
//! stream that ends, breaks or carries what is no message takes the link down at both
//! ends.

use crate::channel::{End, FrontEnd, LINK_QUEUE, WorkerEnd, end};
use crate::wire::{LENGTH_BYTES, Wire, frame_length};
use bytes::BytesMut;
use std::io;
use std::pin::pin;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};

/// Written at once, where more than one message waits.
const WRITE_TOGETHER: usize = 64 << 10;

/// Bytes an in-memory stream of [`pair`] holds each way.
const IN_MEMORY_BYTES: usize = 64 << 10;

/// The front-end's end of a link over `stream`. Called within a tokio runtime.
pub fn front_end<T>(stream: T) -> FrontEnd
where
    T: AsyncRead + AsyncWrite + Send + 'static,
{
    over(stream)
}

/// The worker's end of a link over `stream`. Called within a tokio runtime.
pub fn worker_end<T>(stream: T) -> WorkerEnd
where
    T: AsyncRead + AsyncWrite + Send + 'static,
{
    over(stream)
}

/// Both ends over a stream in memory. Called within a tokio runtime.
pub fn pair() -> (FrontEnd, WorkerEnd) {
    let (front, worker) = tokio::io::duplex(IN_MEMORY_BYTES);
    (front_end(front), worker_end(worker))
}

fn over<T, S, R>(stream: T) -> End<S, R>
where
    T: AsyncRead + AsyncWrite + Send + 'static,
    S: Wire + Send + 'static,
    R: Wire + Send + 'static,
{
    let (read_half, write_half) = tokio::io::split(stream);
    let (say, to_write) = mpsc::channel(LINK_QUEUE);
    let (read, hear) = mpsc::channel(LINK_QUEUE);
    tokio::spawn(async move {
        // A link works both ways or not at all: whichever half ends first ends the other.
        let nobody_hears = Notify::new();
        let mut writing = pin!(write_messages::<_, S>(write_half, to_write, &nobody_hears));
        let read = tokio::select! {
            _ = &mut writing => return,
            read = read_messages::<_, R>(read_half, read) => read,
        };
        if read.is_ok() {
            // This end is gone; what it said before still goes out.
            nobody_hears.notify_one();
            let _ = writing.await;
        }
    });
    end(say, hear)
}

/// Ends when the queue's senders are gone, the stream takes nothing more, or all was
/// written once `nobody_hears`.
async fn write_messages<W, S>(
    mut stream: W,
    mut queue: mpsc::Receiver<S>,
    nobody_hears: &Notify,
) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
    S: Wire,
{
    let mut buffer = BytesMut::new();
    loop {
        let message = tokio::select! {
            message = queue.recv() => message,
            () = nobody_hears.notified() => {
                queue.close();
                continue;
            }
        };
        let Some(message) = message else { break };
        message.write(&mut buffer);
        while buffer.len() < WRITE_TOGETHER {
            let Ok(message) = queue.try_recv() else { break };
            message.write(&mut buffer);
        }
        stream.write_all(&buffer).await?;
        stream.flush().await?;
        if buffer.capacity() > WRITE_TOGETHER {
            // One large message isn't kept for ever.
            buffer = BytesMut::new();
        }
        buffer.clear();
    }
    stream.shutdown().await
}

/// Ends well when nobody takes the messages any more; with an error when the stream ends
/// or what it carries is no message.
async fn read_messages<R, M>(mut stream: R, queue: mpsc::Sender<M>) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    M: Wire,
{
    loop {
        let slot = tokio::select! {
            slot = queue.reserve() => slot,
            () = queue.closed() => return Ok(()),
        };
        let Ok(slot) = slot else { return Ok(()) };
        let mut prefix = [0; LENGTH_BYTES];
        tokio::select! {
            read = stream.read_exact(&mut prefix) => read?,
            () = queue.closed() => return Ok(()),
        };
        let length = frame_length(prefix).map_err(io::Error::other)?;
        let mut frame = Vec::new();
        // Grows with what comes, not with what is announced.
        (&mut stream)
            .take(length as u64)
            .read_to_end(&mut frame)
            .await?;
        if frame.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        slot.send(M::read(frame.into()).map_err(io::Error::other)?);
    }
}
