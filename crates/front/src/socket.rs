//! A WebSocket over a stream: bytes in and out, driven by whoever polls it.
//!
//! Holds no buffer while nothing is under way: what is read passes through the stack.

use crate::frame::{
    Decoder, FrameFault, Incoming, close_frame, data_frame_head, ping_frame, pong_frame,
};
use crate::mailbox::Mailbox;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tungstenite::protocol::frame::coding::Data;

/// The most read at once.
const READ_AT_ONCE: usize = 16 << 10;

pub(crate) struct Socket<S> {
    io: S,
    pub(crate) decoder: Decoder,
    /// Read and not yet decoded, from `unread_from` on.
    unread: Vec<u8>,
    unread_from: usize,
    writing: Option<Writing>,
    /// What the next pong answers: the newest ping (RFC 6455 §5.5.3).
    pong: Option<Bytes>,
    ping: bool,
    texts: VecDeque<Bytes>,
    close: Option<Bytes>,
    flushed: bool,
    broken: bool,
    faulted: bool,
}

/// A frame on its way out.
struct Writing {
    head: Bytes,
    payload: Bytes,
    at: usize,
    /// Whether the payload came from the mailbox.
    from_worker: bool,
}

/// What a write achieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The size of a worker's message that is now wholly written.
    pub(crate) message: Option<usize>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Socket<S> {
    /// A socket over `io`, of which `unread` was already read.
    pub(crate) fn new(io: S, unread: Vec<u8>, message_limit: usize) -> Self {
        Self {
            io,
            decoder: Decoder::new(message_limit),
            unread,
            unread_from: 0,
            writing: None,
            pong: None,
            ping: false,
            texts: VecDeque::new(),
            close: None,
            flushed: true,
            broken: false,
            faulted: false,
        }
    }

    /// Decodes the next message or control frame from what was read.
    pub(crate) fn next_incoming(&mut self) -> Result<Option<Incoming>, FrameFault> {
        if self.unread.is_empty() {
            return Ok(None);
        }
        let mut used = 0;
        let fed = self
            .decoder
            .feed(&mut self.unread[self.unread_from..], &mut used);
        self.unread_from += used;
        if self.unread_from == self.unread.len() {
            self.forget_unread();
        }
        // A message too big can be passed over; after any other fault nobody knows where
        // the next frame begins.
        self.broken |= matches!(fed, Err(FrameFault::Protocol | FrameFault::NotUtf8));
        self.faulted |= fed.is_err();
        fed
    }

    fn forget_unread(&mut self) {
        self.unread = Vec::new();
        self.unread_from = 0;
    }

    /// Reads some bytes: how many, 0 at the stream's end. Called only when all that was
    /// read before is decoded.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut chunk = [const { MaybeUninit::uninit() }; READ_AT_ONCE];
        let mut buffer = ReadBuf::uninit(&mut chunk);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut buffer))?;
        let came = buffer.filled();
        self.unread.extend_from_slice(came);
        Poll::Ready(Ok(came.len()))
    }

    /// Throws away what came: ready with whether there was a close among it, with an error
    /// at the stream's end. The decoder is to discard.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        while !self.broken {
            match self.next_incoming() {
                Ok(Some(Incoming::Close(_))) => return Poll::Ready(Ok(true)),
                Ok(Some(_)) | Err(_) => {}
                Ok(None) => break,
            }
        }
        self.forget_unread();
        match ready!(self.poll_read(cx))? {
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            _ => Poll::Ready(Ok(false)),
        }
    }

    /// Whether something came that could not be taken.
    pub(crate) fn is_faulted(&self) -> bool {
        self.faulted
    }

    /// Whether all that was read is decoded.
    pub(crate) fn is_drained(&self) -> bool {
        self.unread.is_empty()
    }

    /// Ready when the stream took something; pending while it takes nothing or there is
    /// nothing to write.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        mailbox: &Mailbox,
    ) -> Poll<io::Result<Sent>> {
        if self.writing.is_none() {
            self.writing = self.next_frame(mailbox);
        }
        let Some(frame) = &mut self.writing else {
            if !self.flushed {
                ready!(Pin::new(&mut self.io).poll_flush(cx))?;
                self.flushed = true;
            }
            return Poll::Pending;
        };
        let in_head = frame.at.min(frame.head.len());
        let parts = [
            IoSlice::new(&frame.head[in_head..]),
            IoSlice::new(&frame.payload[frame.at - in_head..]),
        ];
        let taken = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, &parts))?;
        if taken == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.flushed = false;
        frame.at += taken;
        if frame.at < frame.head.len() + frame.payload.len() {
            return Poll::Ready(Ok(Sent { message: None }));
        }
        let message = frame.from_worker.then_some(frame.payload.len());
        self.writing = None;
        Poll::Ready(Ok(Sent { message }))
    }

    /// Pongs and pings go before what waits, a close after it.
    fn next_frame(&mut self, mailbox: &Mailbox) -> Option<Writing> {
        let alone = |head| Writing {
            head,
            payload: Bytes::new(),
            at: 0,
            from_worker: false,
        };
        if let Some(payload) = self.pong.take() {
            return Some(alone(pong_frame(&payload)));
        }
        if std::mem::take(&mut self.ping) {
            return Some(alone(ping_frame()));
        }
        if let Some(payload) = self.texts.pop_front() {
            return Some(Writing {
                head: data_frame_head(Data::Text, payload.len()),
                payload,
                at: 0,
                from_worker: false,
            });
        }
        if let Some(payload) = mailbox.next_outgoing() {
            return Some(Writing {
                head: data_frame_head(Data::Binary, payload.len()),
                payload,
                at: 0,
                from_worker: true,
            });
        }
        self.close.take().map(alone)
    }

    /// Whether anything waits to be written, the mailbox aside.
    pub(crate) fn has_output(&self) -> bool {
        self.writing.is_some()
            || self.pong.is_some()
            || self.ping
            || !self.texts.is_empty()
            || self.close.is_some()
            || !self.flushed
    }

    pub(crate) fn queue_text(&mut self, text: String) {
        self.texts.push_back(text.into());
    }

    pub(crate) fn queue_ping(&mut self) {
        self.ping = true;
    }

    pub(crate) fn queue_pong(&mut self, payload: Bytes) {
        self.pong = Some(payload);
    }

    /// Queues the close that ends what this side says.
    pub(crate) fn queue_close(&mut self, code: Option<(u16, &str)>) {
        self.close = Some(close_frame(code));
    }

    /// Drops what waits, but for a frame already begun.
    pub(crate) fn forget_output(&mut self) {
        self.pong = None;
        self.ping = false;
        self.texts = VecDeque::new();
    }

    /// Says that nothing more will be written.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
