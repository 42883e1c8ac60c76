//! One step of the algorithm: a message in, what is said to it out (05 §3.4).
//!
//! Both roles run through here. It goes range by range and stands at a
//! [`Cursor`] between two; where items are missing it looks on, so as to ask
//! for what later ranges need as well, and then goes back to where it stood.

use std::ops::Range;

use super::{
    Bound, FrameLimit, ItemSet, NotLoaded,
    found::Found,
    listed::Listed,
    message::{self, Mark, Reader, Says, WireRange, Writer},
    set::Missing,
    split::split,
};

/// So many ranges of items are asked for at once, at most (and those one range
/// of the message needs besides): what must be in memory together.
const ASK_AT_ONCE: usize = 64;

/// Items compared with an id list between two pauses.
const WINDOW: usize = 4096;

/// How far one step has come.
pub(super) enum Progress {
    Needs(Vec<Range<usize>>),
    /// An initiator found many ids; there is more to come.
    Pause,
    Done,
}

/// Why a range could not be finished now.
enum Halt {
    Missing(Vec<Range<usize>>),
    Pause,
}

impl From<NotLoaded> for Halt {
    fn from(not_loaded: NotLoaded) -> Self {
        Self::Missing(not_loaded.ranges)
    }
}

/// Where a step stands: between two ranges of the message.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    reader: Reader,
    /// The bound of the range before.
    bound: Bound,
    /// The index of that bound; `None` only while looking ahead, where it takes
    /// items that aren't loaded to tell.
    index: Option<usize>,
    /// Whether a skip must be written before anything else is said.
    skip: bool,
    /// The index of the last bound written.
    written: usize,
}

impl Cursor {
    fn new() -> Self {
        Self {
            reader: Reader::new(),
            bound: Bound::START,
            index: Some(0),
            skip: false,
            written: 0,
        }
    }
}

/// An answer in the making.
#[derive(Debug)]
pub(super) struct Answer {
    /// Checked: it reads to its end.
    message: Vec<u8>,
    limit: FrameLimit,
    out: Writer,
    at: Cursor,
    /// What an initiator finds; `None` in a responder.
    found: Option<Found>,
    /// An initiator in the midst of comparing an id list.
    comparing: Option<Listed>,
    /// The set's generation when this began.
    generation: Option<u64>,
    /// What was asked for since the cursor last moved. It is asked for again
    /// with what is missing then, so a caller need keep nothing else loaded.
    asked: Vec<Range<usize>>,
    ended: bool,
}

impl Answer {
    pub(super) fn new(message: Vec<u8>, limit: FrameLimit, initiates: bool) -> Self {
        Self {
            message,
            limit,
            out: Writer::new(),
            at: Cursor::new(),
            found: initiates.then(Found::default),
            comparing: None,
            generation: None,
            asked: Vec::new(),
            ended: false,
        }
    }

    /// Goes on as far as it can with what is loaded.
    pub(super) fn run(&mut self, set: &impl ItemSet) -> Progress {
        self.begin_again_if_changed(set);
        let message = std::mem::take(&mut self.message);
        let progress = self.ranges(set, &message);
        self.message = message;
        progress
    }

    pub(super) fn take_found(&mut self) -> Found {
        self.found.replace(Found::default()).unwrap_or_default()
    }

    /// What was written; call it once done.
    pub(super) fn take_output(&mut self) -> Vec<u8> {
        std::mem::replace(&mut self.out, Writer::new()).into_bytes()
    }

    fn begin_again_if_changed(&mut self, set: &impl ItemSet) {
        let now = set.generation();
        if self.generation.replace(now).is_some_and(|then| then != now) {
            self.out = Writer::new();
            self.at = Cursor::new();
            self.comparing = None;
            self.asked.clear();
            self.ended = false;
            if let Some(found) = &mut self.found {
                *found = Found::default();
            }
        }
    }

    fn ranges(&mut self, set: &impl ItemSet, message: &[u8]) -> Progress {
        let mut missing = Missing::default();
        let mut go_back: Option<(Cursor, Mark)> = None;
        while !self.ended {
            let before = (self.at, self.out.mark());
            let looking_ahead = go_back.is_some();
            match self.range(set, message, looking_ahead) {
                Ok(()) if looking_ahead => {}
                Ok(()) => self.asked.clear(),
                Err(Halt::Pause) => return Progress::Pause,
                Err(Halt::Missing(ranges)) => {
                    missing.add(ranges);
                    if self.comparing.is_some() {
                        break;
                    }
                    go_back.get_or_insert(before);
                    self.out.back_to(before.1);
                    if missing.count() >= ASK_AT_ONCE {
                        break;
                    }
                }
            }
        }
        if let Some((cursor, mark)) = go_back {
            self.at = cursor;
            self.out.back_to(mark);
            self.ended = false;
        }
        if missing.is_empty() {
            return Progress::Done;
        }
        missing.add(std::mem::take(&mut self.asked));
        self.asked = missing.into_ranges();
        Progress::Needs(self.asked.clone())
    }

    /// Takes one range. When it fails the cursor stands behind it all the same.
    fn range(
        &mut self,
        set: &impl ItemSet,
        message: &[u8],
        looking_ahead: bool,
    ) -> Result<(), Halt> {
        if let Some(listed) = self.comparing.take() {
            return self.compare(set, listed);
        }
        // The message was checked, so it can only end.
        let Ok(Some(range)) = self.at.reader.next(message) else {
            self.ended = true;
            return Ok(());
        };
        let lower = self.at.index;
        self.at.index = None;
        let bound = std::mem::replace(&mut self.at.bound, range.bound);
        let upper = set.lower_bound(&range.bound)?;
        // Where this range began isn't known: only its end could be found.
        let Some(lower) = lower else {
            self.at.index = Some(upper);
            return Ok(());
        };
        // A bound lower than the one before covers nothing.
        let upper = upper.max(lower);
        self.at.index = Some(upper);
        self.say(set, &range, bound, lower..upper, looking_ahead)
    }

    /// Answers one range, whose local items are `local` and which begins at
    /// `from`.
    fn say(
        &mut self,
        set: &impl ItemSet,
        range: &WireRange<'_>,
        from: Bound,
        local: Range<usize>,
        looking_ahead: bool,
    ) -> Result<(), Halt> {
        let mut mark = self.out.mark();
        let upper = local.end;
        match range.says {
            Says::Skip => self.at.skip = true,
            Says::Fingerprint(theirs) => {
                if set.sum(local.clone())?.fingerprint() == theirs {
                    self.at.skip = true;
                } else {
                    self.write_skip(&from);
                    split(&mut self.out, set, local, &range.bound)?;
                }
            }
            Says::Ids(theirs) if self.found.is_some() => {
                self.at.skip = true;
                if looking_ahead {
                    return Ok(());
                }
                return self.compare(set, Listed::new(theirs, local));
            }
            Says::Ids(_) => {
                self.list_own(set, &from, local, &range.bound)?;
                // A list stays, whatever the limit then says.
                mark = self.out.mark();
            }
        }
        self.end_at_limit(set, mark, upper)
    }

    /// A responder's own ids, cut at the limit.
    fn list_own(
        &mut self,
        set: &impl ItemSet,
        from: &Bound,
        local: Range<usize>,
        bound: &Bound,
    ) -> Result<(), NotLoaded> {
        // The skip before it isn't counted, nor the list's head.
        let fit = self.limit.ids_from(self.out.len()).min(local.len());
        let end = local.start + fit;
        let cut = end < local.end;
        let bound = if cut {
            Bound::before(&set.item(end)?)
        } else {
            *bound
        };
        self.write_skip(from);
        let out = &mut self.out;
        out.id_list(&bound, fit);
        set.for_each(local.start..end, &mut |item| out.id(&item.id))?;
        self.at.index = Some(end);
        self.at.written = end;
        Ok(())
    }

    fn write_skip(&mut self, from: &Bound) {
        if std::mem::take(&mut self.at.skip) {
            self.out.skip(from);
        }
    }

    /// Ends the message if it is past the limit: what was written behind `mark`
    /// is dropped, and one fingerprint stands for all from the last bound
    /// written, which is where the other side begins to read it.
    fn end_at_limit(&mut self, set: &impl ItemSet, mark: Mark, upper: usize) -> Result<(), Halt> {
        if self.limit.stops_at(self.out.len()) {
            let rest = set.sum(self.at.written..set.len())?.fingerprint();
            self.out.back_to(mark);
            self.out.fingerprint(&Bound::END, rest);
            self.ended = true;
        } else if self.out.is_past(mark) {
            self.at.written = upper;
        }
        Ok(())
    }

    /// An initiator's comparing of an id list with its own items, a window at a
    /// time.
    fn compare(&mut self, set: &impl ItemSet, mut listed: Listed) -> Result<(), Halt> {
        let found = self.found.get_or_insert_default();
        loop {
            let window = listed.window(WINDOW);
            if window.is_empty() {
                break;
            }
            let compared = set.for_each(window, &mut |item| {
                if !listed.names(&item.id) {
                    found.have.push(item.id);
                }
            });
            if let Err(not_loaded) = compared {
                self.comparing = Some(listed);
                return Err(not_loaded.into());
            }
            listed.advance(WINDOW);
            self.asked.clear();
            if found.have.len() >= WINDOW {
                self.comparing = Some(listed);
                return Err(Halt::Pause);
            }
        }
        found.need.extend(listed.unnamed());
        Ok(())
    }
}

/// Checks a message and gives its version.
pub(super) fn checked_version(bytes: &[u8]) -> Result<u8, message::Malformed> {
    let version = message::version(bytes)?;
    if version == message::VERSION {
        message::check(bytes)?;
    }
    Ok(version)
}
