//! What random changes say, drawn towards what their writer's view has.

use std::collections::BTreeMap;

use minca_access::{Cutoff, Event, Grant, Keeper, Kind, RoleDefinition};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Text, Value};
use minca_record::policy::Policy;

use super::dice::Dice;
use super::people::{accounts, invite_keys, keys_of, read_keys};
use super::says::{COLLECTIONS, ROLES, grants, nests};
use super::writing::Writing;
use crate::model::account;
use crate::model::state::State;

impl Writing {
    /// A change of the kind called `name`, drawn towards what `view` has.
    pub(super) fn change(&self, name: &str, root: &Did, view: &State, dice: &mut Dice) -> Kind {
        let own = account(*root);
        let members = Vec::from_iter(view.members());
        let member = |dice: &mut Dice| dice.pick(&members).cloned().unwrap_or_else(|| own.clone());
        let anyone = |dice: &mut Dice| account(*dice.pick(accounts()).unwrap());
        let roles: Vec<Text> = view.roles.keys().cloned().collect();
        let role = |dice: &mut Dice| match dice.pick(&roles) {
            Some(role) if dice.chance(95) => role.clone(),
            _ => (*dice.pick(&ROLES).unwrap()).into(),
        };
        let known: Vec<Did> = invite_keys()
            .iter()
            .filter(|it| view.invites.contains_key(&account(**it)))
            .copied()
            .collect();
        let invite = |dice: &mut Dice| match dice.pick(&known) {
            Some(invite) if dice.chance(75) => *invite,
            _ => *dice.pick(invite_keys()).unwrap(),
        };
        match name {
            "unassign" => {
                let did = if dice.chance(12) { own } else { member(dice) };
                let held = view.roles_of(&did);
                Kind::Assign {
                    role: dice.pick(&held).cloned().unwrap_or_else(|| role(dice)),
                    did,
                    assigned: false,
                    via_invite: None,
                }
            }
            "remove" => Kind::Remove {
                did: if dice.chance(6) { own } else { member(dice) },
            },
            "role" => Kind::Role(role_definition(dice)),
            "open" | "close" => {
                let invite_key = account(invite(dice));
                let known = view.invites.get(&invite_key).map(|it| it.role.clone());
                let known = known.filter(|_| dice.chance(85));
                Kind::Invite {
                    role: known.unwrap_or_else(|| role(dice)),
                    open: name == "open",
                    invite_key,
                }
            }
            "join" => {
                let via = invite(dice);
                let known = view.invites.get(&account(via)).map(|it| it.role.clone());
                Kind::Assign {
                    did: own,
                    role: known.unwrap_or_else(|| role(dice)),
                    assigned: true,
                    via_invite: Some(via),
                }
            }
            "revoke" => Kind::Revoke {
                target: account(self.revoked(root, dice)),
            },
            "definition" => Kind::Definition {
                name: COLLECTIONS[dice.roll(COLLECTIONS.len()).saturating_sub(1)].into(),
                deleted: dice.chance(20),
            },
            "key" => Kind::Key {
                key_id: format!("{:022}", dice.roll(40)).into(),
                read_key: account(*dice.pick(read_keys()).unwrap()),
            },
            "settings" if dice.chance(50) => {
                let relay = |number: usize| Text::from(format!("wss://{number}.example"));
                let mut relays = vec![relay(dice.roll(4))];
                if dice.chance(30) {
                    relays.push(relay(dice.roll(4)));
                }
                Kind::Relays { relays }
            }
            "settings" => Kind::Keepers {
                keepers: vec![Keeper {
                    did: anyone(dice),
                    name: "a node".into(),
                }],
                copies: [None, Some(1), Some(3)][dice.roll(3)],
            },
            "fork" => self.fork(dice),
            "stepdown" => {
                let founders = Vec::from_iter(&view.founders);
                let is_own = view.founders.contains(&own) || dice.chance(50);
                let did = if is_own {
                    Some(own)
                } else {
                    dice.pick(&founders).map(|it| (*it).clone())
                };
                Kind::StepDown {
                    did: did.unwrap_or_else(|| anyone(dice)),
                }
            }
            "succeed" => Kind::Succeed {
                space: ContentId::of(&[dice.roll(3) as u8]),
            },
            _ => Kind::Assign {
                did: if dice.chance(15) { own } else { anyone(dice) },
                role: role(dice),
                assigned: true,
                via_invite: None,
            },
        }
    }

    /// A key to revoke: mostly an own one, and if the account stepped down preferably
    /// the key that did it.
    fn revoked(&self, root: &Did, dice: &mut Dice) -> Did {
        let anyone = *dice.pick(accounts()).unwrap();
        let stepped_down =
            |event: &&Event| event.root == *root && matches!(event.kind, Kind::StepDown { .. });
        let stepped_down = self.events().iter().find(stepped_down);
        match (dice.roll(100), stepped_down) {
            (0..10, _) => *dice.pick(&keys_of(&anyone)).unwrap(),
            (10..60, Some(event)) => event.author,
            _ => *dice.pick(&keys_of(root)).unwrap(),
        }
    }

    /// A proof that a line which has something in it forked, in some place.
    fn fork(&self, dice: &mut Dice) -> Kind {
        let lines: Vec<_> = self.places.iter().collect();
        let keys = keys_of(dice.pick(accounts()).unwrap());
        match dice.pick(&lines) {
            Some(((writer, collection), places)) if dice.chance(75) => Kind::Fork {
                writer: *writer,
                collection: (*collection).into(),
                from: dice.roll(**places as usize + 1) as u64,
            },
            _ => Kind::Fork {
                writer: *dice.pick(&keys).unwrap(),
                collection: (*dice.pick(&COLLECTIONS).unwrap()).into(),
                from: dice.roll(4) as u64,
            },
        }
    }

    /// What of the lines of who loses something stands.
    pub(super) fn cutoff(&self, kind: &Kind, root: &Did, dice: &mut Dice) -> Cutoff {
        let (of, only) = match kind {
            Kind::Remove { did } | Kind::StepDown { did } => (did.clone(), None),
            Kind::Assign {
                did,
                assigned: false,
                ..
            } => (did.clone(), None),
            Kind::Revoke { target } => (account(*root), Some(target)),
            _ => return Cutoff::default(),
        };
        let of = of.as_str().and_then(|it| Did::parse(it).ok());
        let Some(of) = of.filter(|_| dice.chance(55)) else {
            return Cutoff::default();
        };
        let mut covered: BTreeMap<Text, BTreeMap<Text, u64>> = BTreeMap::new();
        let keys = keys_of(&of);
        for ((key, collection), places) in &self.places {
            let is_meant = keys.contains(key) && only.is_none_or(|only| account(*key) == *only);
            if is_meant && dice.chance(80) {
                let back = 1 + dice.roll(3) as u64;
                if let Some(place) = places.checked_sub(back) {
                    let lines = covered.entry(account(*key)).or_default();
                    lines.insert((*collection).into(), place);
                }
            }
        }
        for key in keys
            .iter()
            .filter(|key| only.is_none_or(|only| account(**key) == *only))
        {
            let lines = covered.entry(account(*key)).or_default();
            for collection in COLLECTIONS {
                if dice.chance(40) {
                    lines.insert(collection.into(), dice.roll(4) as u64);
                }
            }
        }
        covered.into()
    }
}

fn role_definition(dice: &mut Dice) -> RoleDefinition {
    let among = if dice.chance(60) {
        &ROLES[1..3]
    } else {
        &ROLES[..]
    };
    let name = *dice.pick(among).unwrap();
    let grant = |written: &Value| {
        let object = written.as_object().unwrap();
        Grant {
            cmd: object.get("cmd").and_then(Value::as_text).unwrap().clone(),
            pol: Policy::read(object.get("pol").unwrap()).unwrap(),
            canonical: written.canonical(),
        }
    };
    RoleDefinition {
        name: name.into(),
        title: dice.chance(10).then(|| "A title".into()),
        grants: grants(dice, 5).iter().map(grant).collect(),
        nests: nests(name, dice),
    }
}
