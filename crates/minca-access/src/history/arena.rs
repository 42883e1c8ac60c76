//! The events placed so far, with what can be said of each without asking whether
//! it counts: what it saw, and where what it changes is kept.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use minca_record::constitution::Constitution;
use minca_record::content_id::ContentId;
use minca_record::json::{Object, Text, Value};
use minca_record::policy::Policy;

use super::bit_set::BitSet;
use super::names::{ByName, Name, Names};
use super::refusal::Refusal;
use super::snapshot::RoleState;
use super::state::State;
use super::{Index, Key};
use crate::event::{Event, Grant, Kind};
use crate::keys;

/// A grant, told apart by the canonical JSON of its command and policy.
pub(super) type GrantId = u32;

/// An event in its place: after all it saw.
#[derive(Debug)]
pub(super) struct Placed {
    pub(super) event: Arc<Event>,
    pub(super) key: Key,
    pub(super) root: Name,
    pub(super) author: Name,
    /// The collection it is written in, which its line is of.
    pub(super) collection: Name,
    /// What it changes.
    pub(super) change: Change,
    /// What `seen` names, but for the constitution and what another of them saw.
    pub(super) heads: Box<[Index]>,
    /// All it saw, directly or through others.
    pub(super) saw: BitSet,
    pub(super) saw_count: u32,
    /// Its own view, `V(e)`.
    pub(super) own: State,
    /// Why it is not allowed there.
    pub(super) refusal: Option<Refusal>,
    /// The events it strikes; those that strike it. Between allowed ones.
    pub(super) strikes: BitSet,
    pub(super) struck_by: BitSet,
    /// For a stepdown: the revokes and fork proofs that reach it.
    pub(super) disarmed_by: BitSet,
}

/// [`Kind`], with names for strings.
#[derive(Debug)]
pub(super) enum Change {
    Role {
        role: Name,
        definition: Definition,
    },
    Assign {
        did: Name,
        role: Name,
        assigned: bool,
        via_invite: Option<Name>,
    },
    Remove {
        did: Name,
    },
    Invite {
        invite: Name,
        role: Name,
        open: bool,
    },
    Revoke {
        target: Name,
    },
    Definition {
        name: Name,
        deleted: bool,
    },
    Key,
    Relays,
    Keepers,
    Fork {
        writer: Name,
        collection: Name,
        from: u64,
    },
    StepDown {
        did: Name,
    },
    Succeed,
}

/// What a role's definition grants and nests.
#[derive(Debug)]
pub(super) struct Definition {
    /// Ascending, each once.
    pub(super) grants: Box<[GrantId]>,
    pub(super) nests: Box<[Name]>,
}

/// Where an assignment of a role to an account is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct AssignmentAt {
    pub(super) role: Name,
    pub(super) key: Key,
    /// Whether the constitution makes it.
    pub(super) is_founding: bool,
}

/// A grant's command and policy.
#[derive(Debug)]
pub(super) struct KnownGrant {
    pub(super) cmd: Text,
    pub(super) pol: Policy,
    /// What one judging of the policy costs, for each value looked at.
    pub(super) weight: u64,
    pub(super) reads_body: bool,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Arena {
    pub(super) space: ContentId,
    pub(super) names: Names,
    pub(super) events: Vec<Placed>,
    pub(super) by_id: HashMap<ContentId, Index>,
    pub(super) allowed: BitSet,

    /// At most 16, so that a state has one bit for each.
    pub(super) founders: Vec<Name>,
    pub(super) founding_roles: ByName<Definition>,
    pub(super) is_private: bool,
    /// The constitution's key id and read key.
    pub(super) first_key: Option<(Text, Text)>,

    keys: HashMap<Box<str>, Key>,
    /// The events on each record key, in their places' order.
    pub(super) on_key: Vec<Vec<Index>>,
    pub(super) role_at: ByName<Key>,
    /// By account, sorted by the role's name.
    pub(super) assignments_at: ByName<Vec<AssignmentAt>>,
    pub(super) remove_at: ByName<Key>,
    pub(super) invite_at: ByName<Key>,
    pub(super) definition_at: ByName<Key>,
    pub(super) succeed_at: HashMap<ContentId, Key>,
    pub(super) key_changes_at: Key,
    pub(super) relays_at: Key,
    pub(super) keepers_at: Key,

    /// How many definitions of roles there are, and the weight of all they grant.
    pub(super) definitions: u64,
    pub(super) granted: u64,
    /// The weight of all different grants.
    pub(super) weighed: u64,
    grant_ids: HashMap<Vec<u8>, GrantId>,
    pub(super) grants: Vec<KnownGrant>,
}

impl Arena {
    pub(super) fn new(constitution: &Constitution) -> Arena {
        let mut arena = Arena {
            space: constitution.id(),
            names: Names::default(),
            events: Vec::new(),
            by_id: HashMap::new(),
            allowed: BitSet::default(),
            founders: Vec::new(),
            founding_roles: ByName::default(),
            is_private: constitution.is_private(),
            first_key: constitution.first_keys().map(|keys| {
                let key_id = Text::from(&*keys.encryption_key_id);
                (key_id, Text::from(keys.read_key.to_string()))
            }),
            keys: HashMap::new(),
            on_key: Vec::new(),
            role_at: ByName::default(),
            assignments_at: ByName::default(),
            remove_at: ByName::default(),
            invite_at: ByName::default(),
            definition_at: ByName::default(),
            succeed_at: HashMap::new(),
            key_changes_at: 0,
            relays_at: 0,
            keepers_at: 0,
            definitions: 0,
            granted: 0,
            weighed: 0,
            grant_ids: HashMap::new(),
            grants: Vec::new(),
        };
        arena.key_changes_at = arena.key(keys::SPACE_KEY);
        arena.relays_at = arena.key(keys::RELAYS);
        arena.keepers_at = arena.key(keys::KEEPERS);
        let founders = constitution.founders().iter();
        arena.founders = founders.map(|did| arena.names.of(did)).collect();
        for (role, grants) in constitution
            .roles()
            .iter()
            .zip(founding_grants(constitution))
        {
            let name = arena.names.of_str(&role.name);
            let definition = arena.definition(&grants, &role.nests);
            *arena.founding_roles.entry(name) = Some(definition);
        }
        for assigned in constitution.assigned() {
            let did = arena.names.of(&assigned.account);
            for role in &assigned.roles {
                let role_name = arena.names.of_str(role);
                let key = keys::assign(&assigned.account, &Text::from(&**role));
                let key = arena.key(&key);
                arena.keep_assignment(did, role_name, key, true);
            }
        }
        arena
    }

    /// The number of a record key.
    fn key(&mut self, key: &str) -> Key {
        if let Some(known) = self.keys.get(key) {
            return *known;
        }
        let number = self.on_key.len() as Key;
        self.keys.insert(key.into(), number);
        self.on_key.push(Vec::new());
        number
    }

    fn keep_assignment(&mut self, did: Name, role: Name, key: Key, is_founding: bool) {
        let names = &self.names;
        let assignments = self.assignments_at.entry(did).get_or_insert_default();
        let text = names.text(role);
        let found = assignments.binary_search_by(|other| names.text(other.role).cmp(text));
        if let Err(place) = found {
            let assignment = AssignmentAt {
                role,
                key,
                is_founding,
            };
            assignments.insert(place, assignment);
        }
    }

    fn definition(&mut self, grants: &[Grant], nests: &[Box<str>]) -> Definition {
        let mut ids: Vec<GrantId> = grants.iter().map(|grant| self.grant(grant)).collect();
        ids.sort_unstable();
        ids.dedup();
        self.definitions += 1;
        let weights = ids.iter().map(|id| self.grants[*id as usize].weight + 1);
        self.granted += weights.sum::<u64>();
        Definition {
            grants: ids.into(),
            nests: nests.iter().map(|nest| self.names.of_str(nest)).collect(),
        }
    }

    fn grant(&mut self, grant: &Grant) -> GrantId {
        if let Some(known) = self.grant_ids.get(&grant.canonical) {
            return *known;
        }
        let id = self.grants.len() as GrantId;
        self.weighed += grant.pol.weight() as u64 + 1;
        self.grant_ids.insert(grant.canonical.clone(), id);
        self.grants.push(KnownGrant {
            cmd: grant.cmd.clone(),
            pol: grant.pol.clone(),
            weight: grant.pol.weight() as u64 + 1,
            reads_body: grant.pol.reads_unreadable(),
        });
        id
    }

    pub(super) fn event(&self, index: Index) -> &Placed {
        &self.events[index as usize]
    }

    pub(super) fn id(&self, index: Index) -> &ContentId {
        &self.event(index).event.id
    }

    pub(super) fn saw(&self, index: Index, other: Index) -> bool {
        self.event(index).saw.contains(other)
    }

    /// Whether an event gives the account the role or takes it; `None` where it does neither.
    /// Its record key doesn't say: it is a hash of both joined, and `a|b` of `c` reads as `a`
    /// of `b|c`.
    pub(super) fn assigns(&self, index: Index, account: Name, to: Name) -> Option<bool> {
        match self.event(index).change {
            Change::Assign {
                did,
                role,
                assigned,
                ..
            } if did == account && role == to => Some(assigned),
            _ => None,
        }
    }

    /// The one with the lowest id.
    pub(super) fn lowest(&self, events: impl IntoIterator<Item = Index>) -> Option<Index> {
        let events = events.into_iter();
        events.min_by(|a, b| self.id(*a).cmp(self.id(*b)))
    }

    /// Begins an event's place: registers what it speaks of, and gives it with an
    /// empty own view, not yet judged and not yet among `events`.
    pub(super) fn prepare(&mut self, event: Arc<Event>, heads: Vec<Index>) -> Placed {
        let key = self.key(&event.key);
        let change = self.change(&event.kind, key);
        let mut saw = BitSet::default();
        let widest = heads.iter().max_by_key(|head| self.event(**head).saw_count);
        if let Some(widest) = widest {
            saw = self.event(*widest).saw.clone();
        }
        for head in &heads {
            if Some(head) != widest {
                saw.unite(&self.event(*head).saw);
            }
            saw.insert(*head);
        }
        Placed {
            key,
            root: self.names.of_did(&event.root),
            author: self.names.of_did(&event.author),
            collection: self.names.of_str(event.kind.collection()),
            change,
            heads: heads.into(),
            saw_count: saw.len() as u32,
            saw,
            own: State::start(self.founders.len()),
            refusal: None,
            strikes: BitSet::default(),
            struck_by: BitSet::default(),
            disarmed_by: BitSet::default(),
            event,
        }
    }

    /// Puts a prepared and judged event in the next place.
    pub(super) fn put(&mut self, placed: Placed) -> Index {
        let index = self.events.len() as Index;
        self.by_id.insert(placed.event.id, index);
        self.on_key[placed.key as usize].push(index);
        if placed.refusal.is_none() {
            self.allowed.insert(index);
        }
        self.events.push(placed);
        index
    }

    fn change(&mut self, kind: &Kind, key: Key) -> Change {
        match kind {
            Kind::Role(role) => {
                let definition = self.definition(&role.grants, &role.nests);
                let role = self.names.of_str(&role.name);
                *self.role_at.entry(role) = Some(key);
                Change::Role { role, definition }
            }
            Kind::Assign {
                did,
                role,
                assigned,
                via_invite,
            } => {
                let (did, role) = (self.names.of(did), self.names.of(role));
                self.keep_assignment(did, role, key, false);
                Change::Assign {
                    did,
                    role,
                    assigned: *assigned,
                    via_invite: via_invite.map(|invite| self.names.of_did(&invite)),
                }
            }
            Kind::Remove { did } => {
                let did = self.names.of(did);
                *self.remove_at.entry(did) = Some(key);
                Change::Remove { did }
            }
            Kind::Invite {
                invite_key,
                role,
                open,
            } => {
                let invite = self.names.of(invite_key);
                *self.invite_at.entry(invite) = Some(key);
                Change::Invite {
                    invite,
                    role: self.names.of(role),
                    open: *open,
                }
            }
            Kind::Revoke { target } => Change::Revoke {
                target: self.names.of(target),
            },
            Kind::Definition { name, deleted } => {
                let name = self.names.of_str(name);
                *self.definition_at.entry(name) = Some(key);
                Change::Definition {
                    name,
                    deleted: *deleted,
                }
            }
            Kind::Key { .. } => Change::Key,
            Kind::Relays { .. } => Change::Relays,
            Kind::Keepers { .. } => Change::Keepers,
            Kind::Fork {
                writer,
                collection,
                from,
            } => Change::Fork {
                writer: self.names.of_did(writer),
                collection: self.names.of_str(collection),
                from: *from,
            },
            Kind::StepDown { did } => Change::StepDown {
                did: self.names.of(did),
            },
            Kind::Succeed { space } => {
                self.succeed_at.insert(*space, key);
                Change::Succeed
            }
        }
    }
}

/// The founding roles as definitions, by name.
pub(super) fn founding_definitions(constitution: &Constitution) -> BTreeMap<Text, RoleState> {
    let roles = constitution
        .roles()
        .iter()
        .zip(founding_grants(constitution));
    let roles = roles.map(|(role, grants)| {
        let definition = RoleState {
            event: constitution.id(),
            by: None,
            title: role.title.clone(),
            grants,
            nests: role.nests.clone(),
        };
        (Text::from(&*role.name), definition)
    });
    roles.collect()
}

/// Each founding role's grants, as definitions have them: their canonical JSON is
/// the constitution's own.
fn founding_grants(constitution: &Constitution) -> Vec<Vec<Grant>> {
    let written = constitution.object().get("roles").and_then(Value::as_array);
    let written = written.into_iter().flatten().map(|role| {
        let grants = role.as_object().and_then(|role| role.get("grants"));
        grants.and_then(Value::as_array).unwrap_or_default()
    });
    let roles = constitution.roles().iter().zip(written);
    let with_canonical = roles.map(|(role, written)| {
        let grants = role.grants.iter().zip(written);
        let grants = grants.map(|(grant, written)| Grant {
            cmd: grant.cmd.clone(),
            pol: grant.pol.clone(),
            canonical: written
                .as_object()
                .map(Object::canonical)
                .unwrap_or_default(),
        });
        grants.collect()
    });
    with_canonical.collect()
}
