//! What is told, as JSON.

use minca_access::history::HeldRole;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Value};

use super::facts::{
    AskedFacts, ChangeFacts, DefinitionFacts, Mention, PlaceFacts, RecordFacts, StrikeFacts, Told,
    VersionFacts,
};
use super::overview::{Member, NotApplied, Overview};

impl Told {
    /// All of it. What isn't known or doesn't apply is `null` or an empty list.
    pub fn as_json(&self) -> Value {
        object([
            ("id", id(&self.id)),
            (
                "version",
                self.version.as_ref().map_or(Value::Null, version),
            ),
            ("verdict", self.verdict.word().into()),
            ("step", self.step.to_string().into()),
            ("reason", or_null(self.reason)),
            ("rule", (&*self.rule).into()),
            ("change", self.change.as_ref().map_or(Value::Null, change)),
            ("record", self.record.as_ref().map_or(Value::Null, record)),
        ])
    }
}

impl Overview {
    /// All of it.
    pub fn as_json(&self) -> Value {
        let counts = self.counts.iter();
        let counts = counts.map(|(verdict, count)| (verdict.word(), *count as u64));
        object([
            ("space", id(&self.space)),
            ("private", self.is_private.into()),
            ("counts", counts.collect::<Object>().into()),
            ("heads", list(&self.heads, id)),
            ("members", list(&self.members, member)),
            ("keyDue", or_null(self.key_due)),
            ("notApplied", list(&self.not_applied, not_applied)),
        ])
    }
}

fn object<const COUNT: usize>(members: [(&str, Value); COUNT]) -> Value {
    Object::from(members).into()
}

fn id(id: &ContentId) -> Value {
    id.to_string().into()
}

fn or_null(value: Option<impl Into<Value>>) -> Value {
    value.map_or(Value::Null, Into::into)
}

fn list<T>(all: &[T], one: impl Fn(&T) -> Value) -> Value {
    all.iter().map(one).collect::<Vec<Value>>().into()
}

fn words(words: &[&'static str]) -> Value {
    list(words, |word| Value::from(*word))
}

fn mention(mention: &Mention) -> Value {
    object([
        ("id", id(&mention.id)),
        ("kind", or_null(mention.kind)),
        ("account", or_null(mention.account.as_deref())),
        ("status", mention.status.into()),
    ])
}

fn version(version: &VersionFacts) -> Value {
    object([
        ("collection", (&*version.collection).into()),
        ("key", (&*version.key).into()),
        ("seq", version.seq.into()),
        ("place", version.place.into()),
        ("author", version.author.clone().into()),
        ("account", or_null(version.account.as_deref())),
        ("deletes", version.deletes.into()),
        ("seen", list(&version.seen, mention)),
    ])
}

fn place(place: &PlaceFacts) -> Value {
    object([
        ("founder", place.is_founder.into()),
        ("roles", list(&place.roles, held_role)),
    ])
}

fn held_role(held: &HeldRole) -> Value {
    object([("role", held.role.clone().into()), ("by", id(&held.by))])
}

fn place_or_null(of: Option<&PlaceFacts>) -> Value {
    of.map_or(Value::Null, place)
}

fn strike(strike: &StrikeFacts) -> Value {
    object([
        ("other", mention(&strike.other)),
        ("mutual", strike.is_mutual.into()),
        ("takesEffect", strike.takes_effect.into()),
    ])
}

fn asked(asked: &AskedFacts) -> Value {
    match asked {
        AskedFacts::Membership => "membership".into(),
        AskedFacts::OwnChoice => "own-choice".into(),
        AskedFacts::Command { command, of } => {
            let of = list(of, |(account, arguments)| {
                object([
                    ("account", account.clone().into()),
                    ("arguments", arguments.clone().into()),
                ])
            });
            object([("command", (*command).into()), ("of", of)])
        }
    }
}

fn change(change: &ChangeFacts) -> Value {
    object([
        ("kind", change.kind.into()),
        ("about", change.about.clone().into()),
        ("accountNamed", change.account_is_named.into()),
        ("author", place_or_null(change.author.as_ref())),
        (
            "authorAmongValid",
            place_or_null(change.author_among_valid.as_ref()),
        ),
        ("asked", change.asked.as_ref().map_or(Value::Null, asked)),
        ("struckOfSeen", list(&change.struck_of_seen, mention)),
        ("struckBy", list(&change.struck_by, strike)),
        ("strikes", list(&change.strikes, strike)),
        ("disarmedBy", list(&change.disarmed_by, mention)),
        ("waitsFor", list(&change.waits_for, mention)),
    ])
}

fn record(record: &RecordFacts) -> Value {
    object([
        ("command", or_null(record.command)),
        ("byCreator", or_null(record.by_creator)),
        ("body", record.body.word().into()),
        (
            "authorAsSeen",
            place_or_null(record.author_as_seen.as_ref()),
        ),
        ("authorAt", place_or_null(record.author_at.as_ref())),
        (
            "withdrawnBy",
            record.withdrawn_by.as_ref().map_or(Value::Null, mention),
        ),
        ("struckOfSeen", list(&record.struck_of_seen, mention)),
        ("missing", list(&record.missing, mention)),
        (
            "definition",
            record.definition.as_ref().map_or(Value::Null, definition),
        ),
        ("unchecked", words(&record.unchecked)),
    ])
}

fn definition(definition: &DefinitionFacts) -> Value {
    let of = |status: &str, event: Value, rules: Value, rivals: Value| {
        object([
            ("status", status.into()),
            ("event", event),
            ("rules", rules),
            ("rivals", rivals),
        ])
    };
    let none = || Value::from(Vec::new());
    match definition {
        DefinitionFacts::NotAsked => of("not-asked", Value::Null, Value::Null, none()),
        DefinitionFacts::None => of("none", Value::Null, Value::Null, none()),
        DefinitionFacts::Contested(events) => {
            of("contested", Value::Null, Value::Null, list(events, mention))
        }
        DefinitionFacts::InForce { event, rules } => {
            let rules = rules.as_deref().map_or(Value::Null, words);
            of("in-force", mention(event), rules, none())
        }
    }
}

fn member(member: &Member) -> Value {
    object([
        ("account", member.account.clone().into()),
        ("founder", member.is_founder.into()),
        ("roles", list(&member.roles, held_role)),
    ])
}

fn not_applied(one: &NotApplied) -> Value {
    object([
        ("change", mention(&one.change)),
        ("verdict", one.verdict.word().into()),
        ("step", one.step.to_string().into()),
        ("reason", or_null(one.reason)),
        ("rule", (&*one.rule).into()),
        ("struckBy", list(&one.struck_by, id)),
        ("waitsFor", list(&one.waits_for, mention)),
    ])
}
