//! Histories written down as cases: a constitution, events, records to judge, and
//! what is expected of them.
//!
//! The format is `minca-access-case/1`, described in `tests/vectors/access/README.md`.
//! A case holds events as the replay takes them, so nothing in it is signed.

mod differences;
mod error;
mod event;
mod member;
mod outcome;

pub use differences::{Difference, differences};
pub use error::{Came, CaseError};

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};

use crate::event::Event;
use error::At;
use member::Members;

/// The only format known.
pub const FORMAT: &str = "minca-access-case/1";

/// One history, and what is asked about it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The space's constitution, checked (03 §1.2).
    pub constitution: Constitution,
    /// The events in the order they arrived. Nothing says each is there once.
    pub events: Vec<Event>,
    /// Records to judge.
    pub probes: Vec<Probe>,
    /// What a replay should come to, as the case has it; not looked into.
    pub expect: Option<Object>,
}

/// What of a record decides whether it stands (03 §5).
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The version's id.
    pub id: ContentId,
    /// The account it speaks for.
    pub root: Did,
    /// What its writer had seen.
    pub seen: Vec<ContentId>,
    /// The key that signed it.
    pub author: Did,
    /// Its collection.
    pub collection: Box<str>,
    /// Its place in its author's line for the collection.
    pub place: u64,
    /// Whether it deletes.
    pub deletes: bool,
    /// Whether its root is the record's creator.
    pub by_creator: bool,
    /// Its body; `None` where it has none or none that is known.
    pub body: Option<Value>,
    /// What the version citing it had seen, where one does.
    pub within: Option<Vec<ContentId>>,
    /// Whether the peer judging can't open bodies.
    pub blind: bool,
    /// Whether its body didn't come, to a peer that could read it.
    pub stub: bool,
}

impl Case {
    /// Reads a case. Members it doesn't know are passed over, at every level.
    ///
    /// # Errors
    /// The first place where something else is than a case has there. An event whose
    /// record key isn't the one its fields give is such a place: it is no event
    /// (03 §3.3).
    pub fn read(value: Value) -> Result<Case, CaseError> {
        let members = Members::of(&value, At::top())?;
        if members.optional("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(members.unlike("format", "\"minca-access-case/1\""));
        }
        let constitution = constitution(&members)?;
        let events = members
            .objects("events")?
            .map(|event| event::read(&event?, constitution.id()))
            .collect::<Result<_, _>>()?;
        let probes = members
            .objects("probes")?
            .map(|probe| read_probe(&probe?))
            .collect::<Result<_, _>>()?;
        let expect = match members.optional("expect") {
            None => None,
            Some(_) => Some(members.object("expect")?.clone()),
        };
        Ok(Case {
            constitution,
            events,
            probes,
            expect,
        })
    }
}

/// The constitution, with the case's `space` as the `id` it is handed around with.
fn constitution(members: &Members<'_>) -> Result<Constitution, CaseError> {
    let id = members.id("space")?;
    let mut handed_around = members.object("constitution")?.clone();
    handed_around.insert("id", id.to_string());
    Ok(Constitution::check(handed_around.into())?)
}

fn read_probe(members: &Members<'_>) -> Result<Probe, CaseError> {
    let deletes = match members.str("op")? {
        "write" => false,
        "delete" => true,
        _ => return Err(members.unlike("op", "\"write\" or \"delete\"")),
    };
    let within = match members.optional("within") {
        None => None,
        Some(_) => Some(members.ids("within")?),
    };
    Ok(Probe {
        id: members.id("id")?,
        root: members.did("root")?,
        seen: members.ids("seen")?,
        author: members.did("author")?,
        collection: members.str("collection")?.into(),
        place: members.place("n")?,
        deletes,
        by_creator: members.boolean("byCreator")?,
        body: members.optional("body").cloned(),
        within,
        blind: members.boolean_or_false("blind")?,
        stub: members.boolean_or_false("stub")?,
    })
}
