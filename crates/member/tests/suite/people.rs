//! Members of one space in memory, who meet without a host between them.

use std::collections::VecDeque;

use member::access;
use member::clock::UnixTime;
use member::holdings::Holdings;
use member::identity::Account;
use member::randomness::FixedRandomness;
use member::replica::{Replica, Write, WriteError};
use member::space::{Opened, Space, Visibility};
use member::sync::{Effect, Event};
use minca_record::did::Did;
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_record::version::Version;

pub(crate) const NOTES: &str = "app.note";

/// Seconds after a day in 2026.
pub(crate) fn at(second: u64) -> UnixTime {
    UnixTime::from_milliseconds((1_790_424_000 + second) * 1000)
}

pub(crate) fn account(number: u8) -> Account {
    Account::from_seed([number; 16])
}

/// A space founded by account 1.
pub(crate) fn founded(visibility: Visibility) -> Space {
    let founder = account(1).did().to_string();
    let mut randomness = FixedRandomness::new(1);
    Space::found("Notes", visibility, &founder, at(0), &mut randomness).unwrap()
}

/// A device of an account in a space, holding nothing.
pub(crate) fn device(space: &Space, of: u8, number: u64) -> Replica {
    let mut randomness = FixedRandomness::new(number);
    let device = account(of).new_device(&mut randomness).unwrap();
    let holdings = Holdings::in_memory();
    Replica::new(space.clone(), device, holdings, Box::new(randomness))
}

pub(crate) fn did(replica: &Replica) -> Did {
    replica.device().account().did()
}

pub(crate) fn name(replica: &Replica) -> String {
    did(replica).to_string()
}

/// Writes a change, which must be allowed.
pub(crate) fn make(by: &mut Replica, write: Write) -> Version {
    by.write(write, at(10)).unwrap()
}

/// Why a change isn't allowed; nothing may be written.
pub(crate) fn refused(by: &mut Replica, write: Write) -> WriteError {
    let before = by.holdings().len();
    let error = by.write(write, at(10)).unwrap_err();
    assert_eq!(by.holdings().len(), before);
    error
}

pub(crate) fn note(by: &mut Replica, text: &str) -> Version {
    by.create(NOTES, text.into(), at(20)).unwrap()
}

/// Both get what the other holds; what happened at either.
pub(crate) fn meet(one: &mut Replica, other: &mut Replica) -> Vec<Event> {
    let mut queues = [VecDeque::new(), VecDeque::new()];
    let mut events = Vec::new();
    let mut carry = |to: &mut VecDeque<Vec<u8>>, effects: Vec<Effect>| {
        for effect in effects {
            match effect {
                Effect::Send { payload, .. } => to.push_back(payload),
                Effect::Event(event) => events.push(event),
            }
        }
    };
    let devices = [one.device().did(), other.device().did()];
    carry(&mut queues[1], one.connected(devices[1]));
    carry(&mut queues[0], other.connected(devices[0]));
    loop {
        let to_one = queues[0].pop_front();
        let to_other = queues[1].pop_front();
        if to_one.is_none() && to_other.is_none() {
            break;
        }
        if let Some(payload) = to_one {
            let payload = read(&payload, MESSAGE_DEPTH).unwrap();
            carry(&mut queues[1], one.received(devices[1], payload).unwrap());
        }
        if let Some(payload) = to_other {
            let payload = read(&payload, MESSAGE_DEPTH).unwrap();
            carry(&mut queues[0], other.received(devices[0], payload).unwrap());
        }
    }
    one.disconnected(devices[1]);
    other.disconnected(devices[0]);
    events
}

/// The texts of the notes that count and can be read, sorted.
pub(crate) fn notes(replica: &Replica) -> Vec<String> {
    let records = replica.records(Some(NOTES)).into_iter();
    let mut texts: Vec<String> = records
        .filter_map(|record| match record.body {
            Opened::Body(Value::String(text)) => Some(text.as_str().unwrap().to_owned()),
            _ => None,
        })
        .collect();
    texts.sort();
    texts
}

/// How many notes count and can't be read.
pub(crate) fn unreadable(replica: &Replica) -> usize {
    let records = replica.records(Some(NOTES)).into_iter();
    records
        .filter(|record| record.body == Opened::Unreadable)
        .count()
}

/// The founder, and another account that it made an editor.
pub(crate) fn founder_and_editor(visibility: Visibility) -> [Replica; 2] {
    let space = founded(visibility);
    let mut founder = device(&space, 1, 11);
    let mut editor = device(&space, 2, 12);
    make(&mut founder, access::assign(&name(&editor), "editor"));
    meet(&mut founder, &mut editor);
    [founder, editor]
}
