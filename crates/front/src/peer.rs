//! One socket and all that is counted of it; one turn of its task at a time.

use crate::arrival::Arrival;
use crate::config::Waits;
use crate::frame::{FrameFault, Incoming};
use crate::heartbeat::{Beat, Heartbeat};
use crate::mailbox::Order;
use crate::memory::MemoryShare;
use crate::places::Place;
use crate::rate::Bucket;
use crate::shared::Shared;
use crate::socket::{Sent, Socket};
use link::ToWorker;
use link::channel::{LinkSender, Slot};
use minca_sync::close::Close;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

/// How often a socket that waits for message memory looks again.
const MEMORY_LOOK: Duration = Duration::from_millis(100);

/// Why a socket ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The host closes it: with this code, at once or once what waits has gone out.
    Close { code: u16, after_output: bool },
    /// The peer closed it, with this code.
    ByPeer(Option<u16>),
    /// It is dead or hopeless and ends without a close.
    Ended(Why),
}

/// Why a socket ends without a close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The stream ended or broke.
    Left,
    /// Not a byte came for too long.
    Silent,
    /// A message took too long to arrive.
    SlowMessage,
    /// The peer takes nothing.
    Stalled,
    /// The host needs the memory.
    Memory,
}

impl End {
    /// Close at once; what waits is dropped.
    pub(crate) fn close(close: Close) -> Self {
        Self::Close {
            code: close.code(),
            after_output: false,
        }
    }
}

impl From<Order> for End {
    fn from(order: Order) -> Self {
        match order {
            Order::CloseAfter(code) => Self::Close {
                code,
                after_output: true,
            },
            Order::CloseNow(code) => Self::Close {
                code,
                after_output: false,
            },
            Order::Drop => Self::Ended(Why::Memory),
        }
    }
}

impl From<FrameFault> for End {
    fn from(fault: FrameFault) -> Self {
        Self::close(match fault {
            FrameFault::Protocol => Close::Framing,
            FrameFault::NotUtf8 => Close::NotUtf8,
            FrameFault::TooBig => Close::TooBig,
        })
    }
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Ended(Why::Left)
    }
}

/// What a turn brought.
pub(crate) enum Turn<'link> {
    /// A whole text or binary message.
    Message(Incoming),
    /// Room in the link, where it was asked for.
    Slot(Slot<'link, ToWorker>),
    /// Room in the link was asked for, and the link is down.
    LinkDown,
    /// Something changed: the mailbox, the time, what was written.
    Woken,
}

enum Decoded {
    Message(Incoming),
    Control,
    Nothing,
}

enum Io {
    Read(usize),
    Sent(Sent),
}

pub(crate) struct Peer<S> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) place: Place,
    pub(crate) socket: Socket<S>,
    /// Whether the worker was told of the connection, and has to hear when it is gone.
    pub(crate) worker_knows: bool,
    /// Bytes of the worker's messages that were written since it was last told.
    pub(crate) room: usize,
    heartbeat: Heartbeat,
    arrival: Option<(Instant, Arrival)>,
    stalled_since: Option<Instant>,
    read_bytes: Bucket,
    read_messages: Bucket,
    /// The rate the socket is over, counted once each time it gets there.
    over_rate: Option<&'static str>,
    memory: MemoryShare,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    pub(crate) fn new(shared: Arc<Shared>, place: Place, io: S, unread: Vec<u8>) -> Self {
        let now = Instant::now();
        let limits = &shared.limits;
        Self {
            socket: Socket::new(io, unread, limits.handshake_message),
            worker_knows: false,
            room: 0,
            heartbeat: Heartbeat::new(now, shared.waits.ping),
            arrival: None,
            stalled_since: None,
            read_bytes: Bucket::full(limits.read_bytes, now),
            read_messages: Bucket::full(limits.read_messages, now),
            over_rate: None,
            memory: shared.memory.share(place.connection, place.address),
            place,
            shared,
        }
    }

    /// Waits until one thing happens, and sees to pings, pongs and all times meanwhile.
    ///
    /// Reads only if `reading`; asks for room in `link` where one is given; comes back at
    /// `until` at the latest. `held` is what of the peer's messages lies elsewhere.
    /// Nothing is lost if the future is dropped.
    pub(crate) async fn turn<'link>(
        &mut self,
        reading: bool,
        held: usize,
        link: Option<&'link LinkSender<ToWorker>>,
        until: Option<Instant>,
    ) -> Result<Turn<'link>, End> {
        if let Some(order) = self.place.mailbox.ordered() {
            return Err(order.into());
        }
        let now = Instant::now();
        self.look_at_times(now)?;
        let not_before = if reading {
            self.wait_before_reading(now)
        } else {
            None
        };
        let may_read = reading && not_before.is_none();
        if may_read {
            match self.decode(now)? {
                Decoded::Message(message) => return Ok(Turn::Message(message)),
                // More may have been read than this.
                Decoded::Control => return Ok(Turn::Woken),
                Decoded::Nothing => {}
            }
        }
        self.weigh(held);
        let deadline = [Some(self.next_time(may_read)), not_before, until]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(now);

        let mailbox = Arc::clone(&self.place.mailbox);
        let socket = &mut self.socket;
        let may_poll_read = may_read && socket.is_drained();
        let mut io = None;
        let mut slot = None;
        tokio::select! {
            biased;
            () = mailbox.changed() => {}
            room = reserve(link) => slot = Some(room),
            event = poll_fn(|cx| {
                if let Poll::Ready(sent) = socket.poll_send(cx, &mailbox) {
                    return Poll::Ready(sent.map(Io::Sent));
                }
                if may_poll_read {
                    return socket.poll_read(cx).map_ok(Io::Read);
                }
                Poll::Pending
            }) => io = Some(event?),
            () = sleep_until(deadline) => {}
        }

        let after = Instant::now();
        if !may_read {
            self.held_up(after, after - now);
        }
        match io {
            Some(Io::Read(0)) => return Err(End::Ended(Why::Left)),
            Some(Io::Read(bytes)) => self.came(after, bytes),
            Some(Io::Sent(sent)) => self.went(after, sent),
            None => {}
        }
        match slot {
            Some(Some(slot)) => Ok(Turn::Slot(slot)),
            Some(None) => Ok(Turn::LinkDown),
            None => Ok(Turn::Woken),
        }
    }

    /// Tells the process what the socket's messages weigh.
    fn weigh(&mut self, held: usize) {
        let mailbox = &self.place.mailbox;
        let bytes = held + self.socket.decoder.kept() + mailbox.waiting();
        let unfinished = self.arrival.map(|(since, _)| since);
        self.memory.set(bytes, unfinished, mailbox);
    }

    /// The same once it closes: nothing of the peer's is kept any more.
    pub(crate) fn weigh_closing(&mut self) {
        self.arrival = None;
        self.weigh(0);
    }

    /// Decodes what was read, up to one message. Control frames are seen to here.
    fn decode(&mut self, now: Instant) -> Result<Decoded, End> {
        let Some(incoming) = self.socket.next_incoming()? else {
            self.note_arrival(now);
            return Ok(Decoded::Nothing);
        };
        let limits = &self.shared.limits;
        self.read_messages.spend(limits.read_messages, now, 1);
        let metrics = &self.shared.metrics.messages;
        match incoming {
            Incoming::Ping(payload) => {
                metrics.with_label_values(&["ping"]).inc();
                self.socket.queue_pong(payload);
                Ok(Decoded::Control)
            }
            Incoming::Pong => {
                metrics.with_label_values(&["pong"]).inc();
                Ok(Decoded::Control)
            }
            Incoming::Close(code) => Err(End::ByPeer(code)),
            message @ (Incoming::Text(_) | Incoming::Binary(_)) => {
                self.arrival = None;
                Ok(Decoded::Message(message))
            }
        }
    }

    fn note_arrival(&mut self, now: Instant) {
        if !self.socket.decoder.is_amid() {
            self.arrival = None;
        } else if self.arrival.is_none() {
            self.arrival = Some((now, Arrival::begun(now)));
        }
    }

    fn came(&mut self, now: Instant, bytes: usize) {
        self.heartbeat.heard(now);
        let rate = self.shared.limits.read_bytes;
        self.read_bytes.spend(rate, now, bytes);
        if let Some((_, arrival)) = &mut self.arrival {
            arrival.came(bytes);
        }
    }

    fn went(&mut self, now: Instant, sent: Sent) {
        self.stalled_since = Some(now);
        if let Some(bytes) = sent.message {
            self.place.mailbox.written(bytes);
            self.room += bytes;
            self.shared.metrics.bytes_out.inc_by(bytes as u64);
        }
    }

    /// What the host holds up is not the peer's silence.
    fn held_up(&mut self, now: Instant, time: Duration) {
        self.heartbeat.heard(now);
        if let Some((_, arrival)) = &mut self.arrival {
            arrival.held_up(time);
        }
    }

    fn look_at_times(&mut self, now: Instant) -> Result<(), End> {
        let Waits {
            ping,
            arrival,
            stalled,
            ..
        } = self.shared.waits;
        match self.heartbeat.tick(now, ping) {
            Beat::Wait => {}
            Beat::Ping => self.socket.queue_ping(),
            Beat::Dead => return Err(End::Ended(Why::Silent)),
        }
        if let Some((_, message)) = &self.arrival
            && message.deadline(arrival) <= now
        {
            return Err(End::Ended(Why::SlowMessage));
        }
        if !self.socket.has_output() && self.place.mailbox.waiting() == 0 {
            self.stalled_since = None;
            return Ok(());
        }
        let since = *self.stalled_since.get_or_insert(now);
        if since + stalled <= now {
            return Err(End::Ended(Why::Stalled));
        }
        Ok(())
    }

    /// When [`look_at_times`](Self::look_at_times) may have something to say next.
    fn next_time(&self, may_read: bool) -> Instant {
        let waits = &self.shared.waits;
        let mut next = self.heartbeat.due();
        if let Some((_, message)) = &self.arrival
            && may_read
        {
            next = next.min(message.deadline(waits.arrival));
        }
        if let Some(since) = self.stalled_since {
            next = next.min(since + waits.stalled);
        }
        next
    }

    /// Until when the socket is not read, because of a rate or of the memory.
    fn wait_before_reading(&mut self, now: Instant) -> Option<Instant> {
        let limits = &self.shared.limits;
        let over_rate = [
            ("read_bytes", self.read_bytes.wait(limits.read_bytes, now)),
            (
                "read_messages",
                self.read_messages.wait(limits.read_messages, now),
            ),
        ];
        let mut over_rate = over_rate.into_iter();
        let over_rate = over_rate.find_map(|(limit, wait)| Some((limit, wait?)));
        let was_over = std::mem::replace(&mut self.over_rate, over_rate.map(|(limit, _)| limit));
        if let Some((limit, wait)) = over_rate {
            if was_over.is_none() {
                self.shared.metrics.limit_took_effect(limit);
            }
            return Some(now + wait);
        }
        if !self.memory.may_read() {
            return Some(now + MEMORY_LOOK);
        }
        None
    }
}

async fn reserve<'link>(
    link: Option<&'link LinkSender<ToWorker>>,
) -> Option<Slot<'link, ToWorker>> {
    match link {
        Some(link) => link.reserve().await.ok(),
        None => std::future::pending().await,
    }
}
