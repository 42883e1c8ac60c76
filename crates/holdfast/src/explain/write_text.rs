//! What is told, for people.

use std::fmt::Write;

use minca_access::history::HeldRole;
use minca_record::content_id::ContentId;
use minca_record::json::Text;

use super::change::arguments_text;
use super::facts::{
    AskedFacts, BodyFacts, ChangeFacts, DefinitionFacts, Mention, PlaceFacts, RecordFacts,
    StrikeFacts, Told, VersionFacts,
};
use super::overview::{NotApplied, Overview};
use super::step::{Verdict, WhichStep};

/// The most characters shown of a text that somebody else wrote.
const MOST_SHOWN: usize = 200;

impl Told {
    /// All of it, in lines.
    pub fn as_text(&self) -> String {
        let mut out = Lines::default();
        out.line(0, &self.id.to_string());
        if let Some(version) = &self.version {
            version_lines(version, &mut out);
        }
        out.line(0, "");
        out.line(0, &verdict_words(self.verdict, self.reason, &self.step));
        out.line(1, &self.rule);
        if let Some(change) = &self.change {
            change_lines(change, &mut out);
        }
        if let Some(record) = &self.record {
            record_lines(record, &mut out);
        }
        out.0
    }
}

impl Overview {
    /// All of it, in lines.
    pub fn as_text(&self) -> String {
        let mut out = Lines::default();
        let visibility = if self.is_private { "private" } else { "public" };
        out.line(0, &format!("{}  {visibility}", self.space));
        let counts = self.counts.iter();
        let counts = counts.map(|(verdict, count)| format!("{count} {}", verdict.word()));
        let counts: Vec<String> = counts.collect();
        let counts = match counts.is_empty() {
            true => "none".to_owned(),
            false => counts.join(", "),
        };
        out.line(0, &format!("Access changes: {counts}"));
        match self.key_due {
            Some(true) => out.line(0, "The key is due for a change"),
            Some(false) => out.line(0, "The key is not due for a change"),
            None => {}
        }
        out.heading("Heads", self.heads.is_empty());
        for head in &self.heads {
            out.line(1, &head.to_string());
        }
        out.heading("Members", self.members.is_empty());
        for member in &self.members {
            let place = PlaceFacts {
                is_founder: member.is_founder,
                roles: member.roles.clone(),
            };
            let account = shown_text(&member.account);
            out.line(1, &format!("{account}  {}", place_words(&place)));
        }
        if !self.not_applied.is_empty() {
            out.heading("Not applied", false);
        }
        for one in &self.not_applied {
            not_applied_lines(one, &mut out);
        }
        out.0
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.0.push_str("  ");
        }
        self.0.push_str(text);
        self.0.push('\n');
    }

    fn heading(&mut self, text: &str, is_empty: bool) {
        self.line(0, "");
        let end = if is_empty { ": none" } else { ":" };
        self.line(0, &format!("{text}{end}"));
    }

    fn mentions(&mut self, heading: &str, mentions: &[Mention]) {
        if mentions.is_empty() {
            return;
        }
        self.heading(heading, false);
        for mention in mentions {
            self.line(1, &mention_words(mention));
        }
    }

    fn strikes(&mut self, heading: &str, strikes: &[StrikeFacts]) {
        if strikes.is_empty() {
            return;
        }
        self.heading(heading, false);
        for strike in strikes {
            let effect = match (strike.takes_effect, strike.is_mutual) {
                (true, _) => "",
                (false, true) => "; they strike each other, which counts for nothing",
                (false, false) => "; without effect",
            };
            self.line(1, &format!("{}{effect}", mention_words(&strike.other)));
        }
    }
}

/// A text of somebody else's, without what a terminal would act on.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (place, character) in text.chars().enumerate() {
        if place == MOST_SHOWN {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

pub(super) fn shown_text(text: &Text) -> String {
    shown(&String::from_utf8_lossy(text.as_wtf8()))
}

/// A verdict, the reason where it says more, and the step of the protocol.
fn verdict_words(verdict: Verdict, reason: Option<&'static str>, step: &WhichStep) -> String {
    let word = verdict.word();
    match reason.filter(|reason| *reason != word) {
        Some(reason) => format!("{word} ({reason}), by {step}"),
        None => format!("{word}, by {step}"),
    }
}

fn mention_words(mention: &Mention) -> String {
    let mut words = mention.id.to_string();
    // Writing to a string never fails.
    if let (Some(kind), Some(account)) = (mention.kind, &mention.account) {
        let _ = write!(words, "  {kind} by {account}");
    }
    let _ = write!(words, ", {}", mention.status);
    words
}

fn role_words(held: &HeldRole) -> String {
    format!("{} (by {})", shown_text(&held.role), held.by)
}

fn place_words(place: &PlaceFacts) -> String {
    let roles: Vec<String> = place.roles.iter().map(role_words).collect();
    match (place.is_founder, roles.is_empty()) {
        (true, true) => "founder".to_owned(),
        (true, false) => format!("founder, {}", roles.join(", ")),
        (false, false) => roles.join(", "),
        (false, true) => "no member".to_owned(),
    }
}

fn ids_words(ids: &[ContentId]) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.join(", ")
}

fn version_lines(version: &VersionFacts, out: &mut Lines) {
    let deletes = if version.deletes { ", a delete" } else { "" };
    out.line(
        1,
        &format!(
            "{}, record {}, version {}{deletes}",
            shown(&version.collection),
            version.key,
            version.seq
        ),
    );
    let account = version.account.as_deref();
    out.line(
        1,
        &match account {
            Some(account) => format!("by {account}"),
            None => "by no account that checks out".to_owned(),
        },
    );
    out.line(
        1,
        &format!(
            "signed with {}, at place {} of its line there",
            shown_text(&version.author),
            version.place
        ),
    );
    match version.seen.is_empty() {
        true => out.line(1, "its writer had seen the constitution alone"),
        false => out.line(1, "its writer had seen these, and all they saw:"),
    }
    for seen in &version.seen {
        out.line(2, &mention_words(seen));
    }
}

fn change_lines(change: &ChangeFacts, out: &mut Lines) {
    out.line(0, "");
    out.line(0, &format!("It {}", change.says));
    if !change.account_is_named {
        out.line(
            0,
            "The history names no such account: a host would not store it (02 §9.4 A 4)",
        );
    }
    if let Some(author) = &change.author {
        out.line(
            0,
            &format!("Its author, as it saw the space: {}", place_words(author)),
        );
    }
    if let Some(author) = &change.author_among_valid {
        let place = place_words(author);
        out.line(0, &format!("Counting only what stands of that: {place}"));
    }
    match &change.asked {
        None => {}
        Some(AskedFacts::Membership) => out.line(0, "It asks that its author is a member"),
        Some(AskedFacts::OwnChoice) => out.line(0, "It asks for nothing: it is its own choice"),
        Some(AskedFacts::Command { command, of }) => {
            out.line(0, &format!("It asks for {command}"));
            for (account, arguments) in of {
                let arguments = shown(&arguments_text(arguments));
                let account = shown_text(account);
                out.line(1, &format!("of {account} with {arguments}"));
            }
        }
    }
    out.mentions("Waits for", &change.waits_for);
    out.strikes("Struck by", &change.struck_by);
    out.mentions("What it saw and doesn't count", &change.struck_of_seen);
    out.strikes("Strikes", &change.strikes);
    out.mentions(
        "Reached by, so that it ends its founder's status and nothing more",
        &change.disarmed_by,
    );
}

fn record_lines(record: &RecordFacts, out: &mut Lines) {
    out.line(0, "");
    match record.command {
        None => out.line(0, "It asks that its author is a member"),
        Some(command) => out.line(0, &format!("It asks for {command}")),
    }
    match record.by_creator {
        None => {}
        Some(true) => out.line(1, "its account is the record's creator"),
        Some(false) => out.line(1, "its account is not the record's creator"),
    }
    out.line(
        1,
        match record.body {
            BodyFacts::Read => "its body can be read here",
            BodyFacts::None => "it has no body",
            BodyFacts::Sealed => "its body can't be read here: a policy on it is taken as holding",
            BodyFacts::Missing => "its body isn't here: it is a stub",
        },
    );
    if let Some(author) = &record.author_as_seen {
        let place = place_words(author);
        out.line(0, &format!("Its author, as it saw the space: {place}"));
    }
    if let Some(author) = &record.author_at {
        let place = place_words(author);
        out.line(0, &format!("Counting only what stands of that: {place}"));
    }
    if let Some(by) = &record.withdrawn_by {
        out.mentions("Withdrawn by", std::slice::from_ref(by));
    }
    out.mentions("Missing", &record.missing);
    out.mentions(
        "What its writer saw and doesn't count",
        &record.struck_of_seen,
    );
    if let Some(definition) = &record.definition {
        definition_lines(definition, out);
    }
    if !record.unchecked.is_empty() {
        out.line(
            1,
            &format!("not checked here: {}", record.unchecked.join(", ")),
        );
    }
}

fn definition_lines(definition: &DefinitionFacts, out: &mut Lines) {
    out.line(0, "");
    match definition {
        DefinitionFacts::NotAsked => out.line(0, "No rules apply in sys.*"),
        DefinitionFacts::None => out.line(0, "No definition is in force, so there are no rules"),
        DefinitionFacts::Contested(rivals) => {
            out.line(0, "The definition is contested, so there are no rules:");
            for rival in rivals {
                out.line(1, &mention_words(rival));
            }
        }
        DefinitionFacts::InForce { event, rules } => {
            out.line(0, "The definition in force:");
            out.line(1, &mention_words(event));
            match rules.as_deref() {
                None => out.line(1, "it can't be read here, so its rules aren't known"),
                Some([]) => out.line(1, "it has no rules"),
                Some(rules) => out.line(1, &format!("its rules: {}", rules.join(", "))),
            }
        }
    }
}

fn not_applied_lines(one: &NotApplied, out: &mut Lines) {
    out.line(1, &mention_words(&one.change));
    out.line(2, &verdict_words(one.verdict, one.reason, &one.step));
    out.line(2, &one.rule);
    if !one.struck_by.is_empty() {
        out.line(2, &format!("struck by {}", ids_words(&one.struck_by)));
    }
    for missing in &one.waits_for {
        out.line(2, &format!("waits for {}", mention_words(missing)));
    }
}
