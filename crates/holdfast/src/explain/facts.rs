//! What is told of a version.

use minca_access::history::{HeldRole, Place};
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text};

use super::step::{Verdict, WhichStep};

/// An access change, named where another version is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its id.
    pub id: ContentId,
    /// Its kind (03 §3.1); `None` for what is no event held.
    pub kind: Option<&'static str>,
    /// The account it speaks for.
    pub account: Option<String>,
    /// What it comes to: a verdict's word, `constitution`, or `not-held`.
    pub status: &'static str,
}

/// What is said of the version itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionFacts {
    /// Its collection.
    pub collection: String,
    /// Its record key.
    pub key: String,
    /// Its place in the record's chain.
    pub seq: u64,
    /// Its place in its author's line for the collection.
    pub place: u64,
    /// The key it says signed it.
    pub author: Text,
    /// The account it speaks for; `None` where its signature or note doesn't check out.
    pub account: Option<String>,
    /// Whether it deletes its record.
    pub deletes: bool,
    /// What its writer had seen of the access history.
    pub seen: Vec<Mention>,
}

/// What an account is in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceFacts {
    /// Whether it is a founder, and may do everything.
    pub is_founder: bool,
    /// Its roles and the event that assigns each, the space's id for the constitution.
    pub roles: Vec<HeldRole>,
}

impl From<Place> for PlaceFacts {
    fn from(place: Place) -> PlaceFacts {
        PlaceFacts {
            is_founder: place.is_founder,
            roles: place.roles,
        }
    }
}

/// What a change needs of who makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum AskedFacts {
    /// A command with arguments, of these accounts: the author, or who opened an invite.
    Command {
        /// The command.
        command: &'static str,
        /// Whose roles must hold it, and with which arguments.
        of: Vec<(Text, Object)>,
    },
    /// Membership alone.
    Membership,
    /// Nothing: it is an account's own choice.
    OwnChoice,
}

/// A reduction and what it strikes, told from the other's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrikeFacts {
    /// The other change.
    pub other: Mention,
    /// Whether they strike each other, which counts for nothing.
    pub is_mutual: bool,
    /// Whether the strike takes effect.
    pub takes_effect: bool,
}

/// What is told of an access change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeFacts {
    /// Its kind.
    pub kind: &'static str,
    /// What it is about, by the names events have for it: accounts, keys, roles,
    /// collections, spaces.
    pub about: Object,
    /// The same in words, for people.
    pub says: String,
    /// Whether the history names its account (03 §3.4).
    pub account_is_named: bool,
    /// What its author was in its own view; `None` while it waits.
    pub author: Option<PlaceFacts>,
    /// What its author was counting only what stands, where that is another view.
    pub author_among_valid: Option<PlaceFacts>,
    /// What it asked for.
    pub asked: Option<AskedFacts>,
    /// What of what it saw doesn't count.
    pub struck_of_seen: Vec<Mention>,
    /// The reductions that reach it.
    pub struck_by: Vec<StrikeFacts>,
    /// What it reaches as a reduction does.
    pub strikes: Vec<StrikeFacts>,
    /// The revokes and fork proofs that take all but its effect on its founder from a
    /// stepping down.
    pub disarmed_by: Vec<Mention>,
    /// What it waits for.
    pub waits_for: Vec<Mention>,
}

/// How much of its body can be read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFacts {
    /// All of it.
    Read,
    /// It has none: it is a delete.
    None,
    /// It is sealed: a policy that reads it is taken as holding (03 §2.2).
    Sealed,
    /// It is not here.
    Missing,
}

impl BodyFacts {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            BodyFacts::Read => "read",
            BodyFacts::None => "none",
            BodyFacts::Sealed => "sealed",
            BodyFacts::Missing => "missing",
        }
    }
}

/// The definition a version is judged under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionFacts {
    /// There are no rules in `sys.*`.
    NotAsked,
    /// None is in force.
    None,
    /// Several are latest, and none is in force (02 §6.3).
    Contested(Vec<Mention>),
    /// One is.
    InForce {
        /// Its change.
        event: Mention,
        /// Its rules by name; `None` where the definition can't be read here, or is
        /// invalid, and so counts as none.
        rules: Option<Vec<&'static str>>,
    },
}

/// What is told of an ordinary version that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFacts {
    /// The command it runs; `None` in `sys.*`, where membership is asked for.
    pub command: Option<&'static str>,
    /// Whether its account is that of the record's first version; `None` where that
    /// version isn't held.
    pub by_creator: Option<bool>,
    /// Its body.
    pub body: BodyFacts,
    /// What its author was as its writer saw the space; `None` where that isn't known.
    pub author_as_seen: Option<PlaceFacts>,
    /// The same, counting only what stands.
    pub author_at: Option<PlaceFacts>,
    /// The change that withdrew it.
    pub withdrawn_by: Option<Mention>,
    /// What of what its writer saw doesn't count.
    pub struck_of_seen: Vec<Mention>,
    /// What is missing to judge it.
    pub missing: Vec<Mention>,
    /// The definition in force as of what its writer saw; `None` where that isn't known.
    pub definition: Option<DefinitionFacts>,
    /// Rules that can't be checked here, by name.
    pub unchecked: Vec<&'static str>,
}

/// Everything told of one version.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Its id.
    pub id: ContentId,
    /// The version itself; `None` where it is malformed.
    pub version: Option<VersionFacts>,
    /// What it comes to.
    pub verdict: Verdict,
    /// The step that gave the verdict.
    pub step: WhichStep,
    /// A word for programs, where the protocol or the program has one.
    pub reason: Option<&'static str>,
    /// The rule in words.
    pub rule: String,
    /// For a version that yields an event.
    pub change: Option<ChangeFacts>,
    /// For an ordinary version that was judged.
    pub record: Option<RecordFacts>,
}
