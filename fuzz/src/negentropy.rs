//! Negentropy, byte for byte against the `negentropy` crate, in both roles.
//!
//! The first two bytes choose a set of items and a frame limit; the rest is a message as it is, or
//! ranges to be put into one.

use std::sync::LazyLock;

use arbitrary::{Arbitrary, Unstructured};
use minca_record::hash::sha256;
use minca_sync::item::Item;
use minca_sync::negentropy::{
    Bound, Found, FrameLimit, Initiator, InitiatorStep, ItemSet, Malformed, Responder,
    ResponderStep, SortedItems, varint,
};
use negentropy::{Id, Negentropy, NegentropyStorageVector};

/// A set as both have it.
struct Set {
    ours: SortedItems,
    theirs: NegentropyStorageVector,
}

/// Sets of no item, one, a few, many in one second with much of their ids alike, and many.
static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
    let items = |count: u64, per_second: u64, alike: usize| -> Vec<Item> {
        let item = |i: u64| {
            let mut id = sha256(&i.to_be_bytes());
            id[..alike].fill(7);
            let timestamp = 1_000 + i / per_second * 5;
            Item { timestamp, id }
        };
        (0..count).map(item).collect()
    };
    [
        items(0, 1, 0),
        items(1, 1, 0),
        items(31, 3, 0),
        items(33, 100, 2),
        items(400, 400, 20),
        items(1500, 7, 0),
    ]
    .iter()
    .map(|items| Set::new(items))
    .collect()
});

const LIMITS: [usize; 5] = [0, 4096, 4767, 8192, 32_000];

/// This bit of the first byte says that the message follows as it is.
const AS_IT_IS: u8 = 0x80;

#[derive(Debug, Arbitrary)]
struct Range {
    ends: Ends,
    says: Says,
}

/// Where a range ends.
#[derive(Debug, Arbitrary)]
enum Ends {
    AtInfinity,
    /// Just before the item with this index.
    BeforeItem(u16),
    /// At a bound that may be anything: seconds ahead, and a prefix.
    Anywhere(u32, Vec<u8>),
    /// So far ahead that times come to their end.
    FarAhead(u64),
}

#[derive(Debug, Arbitrary)]
enum Says {
    Skip,
    /// The fingerprint of just what the set holds there.
    Same,
    Fingerprint([u8; 16]),
    /// Ids: of so many of the set's items from the range's beginning on, each so many apart, and
    /// so many that nobody has.
    Ids(u8, u8, u8),
    /// A mode that may be none.
    Mode(u8),
}

/// One run.
pub fn run(data: &[u8]) {
    let [first, limit, rest @ ..] = data else {
        return;
    };
    let set = &SETS[usize::from(first & !AS_IT_IS) % SETS.len()];
    let limit = LIMITS[usize::from(*limit) % LIMITS.len()];
    let message = if first & AS_IT_IS != 0 {
        rest.to_vec()
    } else {
        let Ok(ranges) = Vec::<Range>::arbitrary_take_rest(Unstructured::new(rest)) else {
            return;
        };
        write(&ranges, &set.ours)
    };
    respond(&message, set, limit);
    initiate(&message, set, limit);
}

fn respond(message: &[u8], set: &Set, limit: usize) {
    let theirs = set.negentropy(limit).reconcile(message);
    match Responder::new(message.to_vec(), frame_limit(limit)) {
        Ok(mut responder) => match responder.step(&set.ours) {
            ResponderStep::Done(answer) => {
                assert!(limit == 0 || answer.len() <= limit);
                assert_eq!(answer, theirs.expect("the crate takes it too"));
            }
            ResponderStep::Needs(ranges) => panic!("all is in memory, not {ranges:?}"),
        },
        // Where we are stricter, the crate may read it.
        Err(Malformed::EndsEarly | Malformed::VarintTooLarge) => {}
        Err(Malformed::OtherVersion(_)) => panic!("a responder answers"),
        // It stops reading at its limit, too.
        Err(_) => assert!(theirs.is_err() || limit != 0),
    }
}

fn initiate(message: &[u8], set: &Set, limit: usize) {
    let mut crates = set.negentropy(limit);
    crates.initiate().expect("begins");
    let (mut have, mut need) = (Vec::new(), Vec::new());
    let theirs = crates.reconcile_with_ids(message, &mut have, &mut need);
    let Ok(mut initiator) = Initiator::new(message.to_vec(), frame_limit(limit)) else {
        return;
    };
    let mut all = Found::default();
    let next = loop {
        let (found, next) = match initiator.step(&set.ours) {
            InitiatorStep::Found(found) => (found, None),
            InitiatorStep::Done { found, next } => (found, Some(next)),
            InitiatorStep::Needs(ranges) => panic!("all is in memory, not {ranges:?}"),
        };
        all.have.extend(found.have);
        all.need.extend(found.need);
        if let Some(next) = next {
            break next;
        }
    };
    assert!(limit == 0 || next.as_ref().is_none_or(|next| next.len() <= limit));
    assert_eq!(next, theirs.expect("the crate takes it too"));
    assert_eq!(
        sorted(all.have),
        sorted(have.iter().map(|id| id.to_bytes()).collect())
    );
    assert_eq!(
        sorted(all.need),
        sorted(need.iter().map(|id| id.to_bytes()).collect())
    );
}

fn sorted(mut ids: Vec<[u8; 32]>) -> Vec<[u8; 32]> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn frame_limit(bytes: usize) -> FrameLimit {
    match bytes {
        0 => FrameLimit::NONE,
        bytes => FrameLimit::new(bytes).expect("not too small"),
    }
}

impl Set {
    fn new(items: &[Item]) -> Set {
        let mut theirs = NegentropyStorageVector::new();
        for item in items {
            let id = Id::from_byte_array(item.id);
            theirs.insert(item.timestamp, id).expect("not sealed yet");
        }
        theirs.seal().expect("no item twice");
        Set {
            ours: items.iter().copied().collect(),
            theirs,
        }
    }

    fn negentropy(&self, limit: usize) -> Negentropy<'_, NegentropyStorageVector> {
        Negentropy::borrowed(&self.theirs, limit as u64).expect("a limit it takes")
    }
}

/// The message that says this of the ranges, to someone with this set.
fn write(ranges: &[Range], set: &SortedItems) -> Vec<u8> {
    let items = set.as_slice();
    let mut out = vec![minca_sync::negentropy::VERSION];
    let mut timestamp: u64 = 0;
    let mut lower = 0;
    for range in ranges {
        let (ahead, prefix): (Option<u64>, Vec<u8>) = match &range.ends {
            Ends::AtInfinity => (None, Vec::new()),
            Ends::BeforeItem(index) => match items.get(usize::from(*index) % items.len().max(1)) {
                Some(item) => (item.timestamp.checked_sub(timestamp), item.id.to_vec()),
                None => (None, Vec::new()),
            },
            Ends::Anywhere(ahead, prefix) => (Some(u64::from(*ahead)), prefix.clone()),
            Ends::FarAhead(ahead) => (Some(ahead % varint::LARGEST), Vec::new()),
        };
        timestamp = timestamp.saturating_add(ahead.unwrap_or(u64::MAX));
        varint::write(&mut out, ahead.map_or(0, |ahead| ahead + 1));
        varint::write(&mut out, prefix.len() as u64);
        out.extend_from_slice(&prefix);
        let upper = Bound::new(timestamp, &prefix)
            .and_then(|bound| set.lower_bound(&bound).ok())
            .map_or(lower, |upper| upper.max(lower));
        say(&mut out, &range.says, set, lower, upper);
        lower = upper;
    }
    out
}

fn say(out: &mut Vec<u8>, says: &Says, set: &SortedItems, lower: usize, upper: usize) {
    match says {
        Says::Skip => out.push(0),
        Says::Same => {
            out.push(1);
            let sum = set.sum(lower..upper).expect("all is in memory");
            out.extend_from_slice(&sum.fingerprint());
        }
        Says::Fingerprint(fingerprint) => {
            out.push(1);
            out.extend_from_slice(fingerprint);
        }
        Says::Ids(held, apart, unheld) => {
            let own = set.as_slice()[lower..]
                .iter()
                .step_by(usize::from(*apart) + 1);
            let own: Vec<&Item> = own.take(usize::from(*held)).collect();
            out.push(2);
            varint::write(out, (own.len() + usize::from(*unheld)) as u64);
            own.iter().for_each(|item| out.extend_from_slice(&item.id));
            (0..*unheld).for_each(|byte| out.extend_from_slice(&[byte; 32]));
        }
        Says::Mode(mode) => out.push(*mode),
    }
}
