//! `may`: whether an account may run a command in a state (03 §4.1).
//!
//! A definition holds only what its author could do as of the definition's own
//! view, and so on into ever older views, as deep as somebody cares to stack them.
//! So this keeps its own stack, and asks about each definition once per invocation.

use std::borrow::Cow;
use std::collections::HashMap;

use minca_record::command::covers;
use minca_record::hash::sha256;
use minca_record::json::{Object, Value};

use super::Index;
use super::arena::{Arena, Change, Definition, GrantId, KnownGrant};
use super::names::{Name, NameSet};
use super::state::State;
use super::validity::Lens;
use super::view::View;
use super::work::{Answers, Known, Work};

/// Arguments with more canonical bytes than this are nobody's to remember.
const LONGEST_REMEMBERED: usize = 1_024;

/// A command an account would run.
#[derive(Clone, Copy)]
pub(super) struct Invocation<'a> {
    pub(super) cmd: &'a str,
    pub(super) arguments: &'a dyn Arguments,
    pub(super) body: BodyIs,
}

/// What a policy on a record's body makes of it (03 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyIs {
    /// It is here, or there is none.
    Read,
    /// It can't be read here: a statement on it is taken as holding.
    TakenOnTrust,
    /// It isn't here yet: a statement on it doesn't hold.
    Lacking,
}

/// A command's arguments.
pub(super) trait Arguments {
    /// For a policy that doesn't read the body.
    fn without_body(&self) -> &Object;

    /// For one that does, and how many values it may have to look at.
    fn with_body(&self) -> (&Object, u64) {
        (self.without_body(), 1)
    }
}

impl Arguments for Object {
    fn without_body(&self) -> &Object {
        self
    }
}

impl<'a> Invocation<'a> {
    pub(super) fn new(cmd: &'a str, arguments: &'a Object) -> Invocation<'a> {
        Invocation {
            cmd,
            arguments,
            body: BodyIs::Read,
        }
    }
}

/// The most grants there are, and their greatest weight together, up to which every grant
/// is looked at to tell invocations apart.
const MOST_GRANTS: usize = 1_024;
const MOST_WEIGHED: u64 = 8_192;

/// The definitions of one role in a state.
#[derive(Clone, Copy)]
enum Definitions<'a> {
    Founding(&'a Definition),
    Written(&'a [Index]),
}

/// One question under way: whether some role of an account holds the invocation.
struct Asked<'a> {
    /// The definition whose author is asked about; `None` for the question itself.
    definition: Option<Index>,
    lens: Lens<'a>,
    state: &'a State,
    to_ask: Vec<Name>,
    /// Roles asked about hold nothing more, so nestings that loop end.
    asked: NameSet,
    role: Option<RoleAsked<'a>>,
}

/// One role that would hold it, if its definers could do it themselves.
struct RoleAsked<'a> {
    definitions: Definitions<'a>,
    /// Whether it holds it by its own grants; otherwise by what it nests.
    fits: bool,
    nests: Cow<'a, [Name]>,
    /// How many of its definers are known to have been able.
    able: usize,
}

impl View<'_> {
    /// Whether the account may run the command here.
    pub(super) fn may(&self, account: Name, invocation: Invocation<'_>, work: &mut Work) -> bool {
        if self.is_founder(account) {
            return true;
        }
        let roles = self.roles_of(account, work);
        self.any_role_holds(roles, invocation, work)
    }

    /// Whether some of these roles holds it here.
    pub(super) fn any_role_holds(
        &self,
        roles: Vec<Name>,
        invocation: Invocation<'_>,
        work: &mut Work,
    ) -> bool {
        // What the constitution grants needs nobody's having been able, and is the most
        // of it as a rule.
        let mut left = Vec::new();
        let mut fitting = Fitting::default();
        for role in roles {
            work.spent += 1;
            let Some(definitions) = definitions_of(self.arena, self.state, role) else {
                continue;
            };
            match definitions {
                Definitions::Founding(_)
                    if fitting.fits(self.arena, definitions, invocation, work) =>
                {
                    return true;
                }
                Definitions::Founding(founding) if founding.nests.is_empty() => {}
                _ => left.push(role),
            }
        }
        if left.is_empty() {
            return false;
        }
        let first = Asked {
            definition: None,
            lens: self.lens,
            state: self.state,
            to_ask: left,
            asked: NameSet::default(),
            role: None,
        };
        Asking {
            arena: self.arena,
            invocation,
            stack: vec![first],
            known: None,
            fitting,
        }
        .answer(work)
    }
}

struct Asking<'a> {
    arena: &'a Arena,
    invocation: Invocation<'a>,
    stack: Vec<Asked<'a>>,
    /// What is known of the invocation already; taken out when the first definer is
    /// asked about.
    known: Option<(Vec<u8>, Known)>,
    fitting: Fitting,
}

/// Which grants fit the invocation, of those that take long to judge: many definitions have
/// the same ones as a rule.
#[derive(Default)]
struct Fitting {
    long: HashMap<GrantId, bool>,
}

/// A policy that weighs more than this takes longer than to look up what came of it.
const LONG_POLICY: u64 = 8;

impl<'a> Asking<'a> {
    fn answer(mut self, work: &mut Work) -> bool {
        let answer = loop {
            let Some(answer) = self.step(work) else {
                continue;
            };
            let Some(done) = self.stack.pop() else {
                break answer;
            };
            let Some(definition) = done.definition else {
                break answer;
            };
            self.answers(done.lens, work).insert(definition, answer);
        };
        if let Some((invocation, known)) = self.known
            && invocation.len() <= LONGEST_REMEMBERED
        {
            work.keep_answers(invocation, known);
        }
        answer
    }

    /// One step of the question on top; its answer, when this settles it.
    fn step(&mut self, work: &mut Work) -> Option<bool> {
        work.spent += 1;
        let Some(top) = self.stack.last_mut() else {
            return Some(false);
        };
        let Some(role) = &mut top.role else {
            let Some(name) = top.to_ask.pop() else {
                return Some(false);
            };
            if !top.asked.insert(name) {
                return None;
            }
            let state = top.state;
            if let Some(definitions) = definitions_of(self.arena, state, name) {
                let (arena, invocation) = (self.arena, self.invocation);
                let fits = self.fitting.fits(arena, definitions, invocation, work);
                let nests = match fits {
                    true => Cow::default(),
                    false => shared_nests(self.arena, definitions, work),
                };
                // Who defined a role that can't hold it is not asked about.
                if fits || !nests.is_empty() {
                    top.role = Some(RoleAsked {
                        definitions,
                        fits,
                        nests,
                        able: 0,
                    });
                }
            }
            return None;
        };
        let written = match role.definitions {
            Definitions::Founding(_) => &[],
            Definitions::Written(written) => written,
        };
        if let Some(definition) = written.get(role.able).copied() {
            let lens = top.lens.of_view(definition);
            return match self.answer_about(definition, lens, work) {
                Some(able) => {
                    self.note(able);
                    None
                }
                None => None,
            };
        }
        if role.fits {
            return Some(true);
        }
        let nests = std::mem::take(&mut role.nests);
        top.to_ask.extend_from_slice(&nests);
        top.role = None;
        None
    }

    /// The definer of the role on top was able, or wasn't.
    fn note(&mut self, able: bool) {
        let Some(top) = self.stack.last_mut() else {
            return;
        };
        match &mut top.role {
            Some(role) if able => role.able += 1,
            _ => top.role = None,
        }
    }

    /// Whether a definition's author could do it itself; asks, when that isn't known.
    fn answer_about(&mut self, definition: Index, lens: Lens<'a>, work: &mut Work) -> Option<bool> {
        let author = self.arena.event(definition).root;
        let state = lens.before(self.arena, definition);
        let view = View::bare(self.arena, lens, state);
        if view.is_founder(author) {
            return Some(true);
        }
        if let Some(known) = self.answers(lens, work).get(&definition) {
            return Some(*known);
        }
        let to_ask = view.roles_of(author, work);
        self.stack.push(Asked {
            definition: Some(definition),
            lens,
            state,
            to_ask,
            asked: NameSet::default(),
            role: None,
        });
        None
    }

    /// The answers in such views.
    fn answers(&mut self, lens: Lens<'_>, work: &mut Work) -> &mut Answers {
        let invocation = self.invocation;
        let asked_in = self.stack.first();
        let generation = asked_in.and_then(|asked_in| asked_in.lens.generation());
        let (arena, fitting) = (self.arena, &mut self.fitting);
        let (_, known) = self.known.get_or_insert_with(|| {
            let question = question(arena, invocation, fitting, work);
            let known = work.take_answers(&question, generation);
            (question, known)
        });
        match lens {
            Lens::Own => &mut known.own,
            Lens::Among(_) => &mut known.among,
        }
    }
}

/// What two invocations have in common that have the same answers everywhere: the grants
/// that fit them. Where there are too many to look at each, the invocation itself.
///
/// A grant that is made later changes no answer that is remembered: if it fits, the
/// question is another one.
fn question(
    arena: &Arena,
    invocation: Invocation<'_>,
    fitting: &mut Fitting,
    work: &mut Work,
) -> Vec<u8> {
    const BY_GRANTS: u8 = 0;
    const BY_ARGUMENTS: u8 = 1;
    if arena.grants.len() > MOST_GRANTS || arena.weighed > MOST_WEIGHED {
        let mut question = vec![BY_ARGUMENTS, invocation.body as u8];
        question.extend(invocation.cmd.as_bytes());
        question.push(0);
        question.extend(invocation.arguments.with_body().0.canonical());
        return question;
    }
    let mut fit = Vec::new();
    for grant in 0..arena.grants.len() as GrantId {
        if fitting.grant_fits(arena, grant, invocation, work) {
            fit.extend(grant.to_be_bytes());
        }
    }
    let mut question = vec![BY_GRANTS];
    question.extend(sha256(&fit));
    question
}

fn definitions_of<'a>(arena: &'a Arena, state: &'a State, role: Name) -> Option<Definitions<'a>> {
    let written = arena.role_at.get(role).map(|key| state.latest.get(*key));
    match written.map_or(&[][..], |latest| latest.as_slice()) {
        [] => arena.founding_roles.get(role).map(Definitions::Founding),
        written => Some(Definitions::Written(written)),
    }
}

fn definition_in(arena: &Arena, index: Index) -> Option<&Definition> {
    match &arena.event(index).change {
        Change::Role { definition, .. } => Some(definition),
        _ => None,
    }
}

impl Fitting {
    /// Whether a grant that every one of the definitions has fits the invocation.
    fn fits(
        &mut self,
        arena: &Arena,
        definitions: Definitions<'_>,
        invocation: Invocation<'_>,
        work: &mut Work,
    ) -> bool {
        let grants = shared_grants(arena, definitions, work);
        let mut grants = grants.iter();
        grants.any(|grant| self.grant_fits(arena, *grant, invocation, work))
    }

    fn grant_fits(
        &mut self,
        arena: &Arena,
        grant: GrantId,
        invocation: Invocation<'_>,
        work: &mut Work,
    ) -> bool {
        let known = &arena.grants[grant as usize];
        work.spent += 1;
        if !covers(&known.cmd, invocation.cmd) {
            return false;
        }
        if known.weight <= LONG_POLICY && !known.reads_body {
            return grant_fits(known, invocation, work);
        }
        let fits = self.long.entry(grant);
        *fits.or_insert_with(|| grant_fits(known, invocation, work))
    }
}

/// The grants that every one of the definitions has.
fn shared_grants<'a>(
    arena: &'a Arena,
    definitions: Definitions<'a>,
    work: &mut Work,
) -> Cow<'a, [GrantId]> {
    let written = match definitions {
        Definitions::Founding(founding) => return Cow::Borrowed(&founding.grants),
        Definitions::Written(written) => written,
    };
    let mut all = written
        .iter()
        .filter_map(|index| definition_in(arena, *index));
    let mut grants = all.next().map_or(Cow::default(), |first| {
        Cow::Borrowed::<[GrantId]>(&first.grants)
    });
    for other in all {
        if grants.is_empty() {
            break;
        }
        work.spent += grants.len() as u64 + 1;
        grants
            .to_mut()
            .retain(|grant| other.grants.binary_search(grant).is_ok());
    }
    grants
}

/// Whether a grant of the command fits.
fn grant_fits(grant: &KnownGrant, invocation: Invocation<'_>, work: &mut Work) -> bool {
    let unread = invocation.arguments.without_body();
    match invocation.body {
        BodyIs::Read => {}
        BodyIs::TakenOnTrust => {
            work.spent += grant.weight;
            return grant.pol.holds_unread(unread);
        }
        BodyIs::Lacking => {
            work.spent += grant.weight;
            return grant.pol.holds_unread_for_certain(unread);
        }
    }
    let (arguments, values) = match grant.reads_body {
        true => invocation.arguments.with_body(),
        false => (unread, 1),
    };
    let elements = arguments.iter().map(|(_, value)| match value {
        Value::Array(elements) => elements.len() as u64,
        _ => 1,
    });
    work.spent += grant.weight * (values + elements.sum::<u64>());
    grant.pol.holds(arguments)
}

/// The roles that every one of the definitions nests.
fn shared_nests<'a>(
    arena: &'a Arena,
    definitions: Definitions<'a>,
    work: &mut Work,
) -> Cow<'a, [Name]> {
    let written = match definitions {
        Definitions::Founding(founding) => return Cow::Borrowed(&founding.nests),
        Definitions::Written(written) => written,
    };
    let mut all = written
        .iter()
        .filter_map(|index| definition_in(arena, *index));
    let mut nests = all.next().map_or(Cow::default(), |first| {
        Cow::Borrowed::<[Name]>(&first.nests)
    });
    for other in all {
        if nests.is_empty() {
            break;
        }
        work.spent += nests.len() as u64;
        nests.to_mut().retain(|nest| other.nests.contains(nest));
    }
    nests
}
