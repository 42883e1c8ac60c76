//! Changes and records of a few bytes each.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Result, Unstructured};
use minca_access::case::Probe;
use minca_access::{Cutoff, Event, Grant, Keeper, Kind, RoleDefinition, keys};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Text, Value};
use minca_record::policy::Policy;

use super::pool::{self, COLLECTIONS, NOBODY, ROLES};
use super::{id_of, space};

/// What was written so far.
pub(super) struct Steps {
    space: ContentId,
    salt: u8,
    pub(super) events: Vec<Event>,
    pub(super) probes: Vec<Probe>,
}

/// A byte, as a number to choose by.
fn byte(bytes: &mut Unstructured<'_>) -> Result<usize> {
    Ok(usize::from(u8::arbitrary(bytes)?))
}

fn one<T: Clone>(among: &[T], bytes: &mut Unstructured<'_>) -> Result<T> {
    Ok(among[byte(bytes)? % among.len()].clone())
}

impl Steps {
    pub(super) fn new(space: ContentId, salt: u8) -> Steps {
        Steps {
            space,
            salt,
            events: Vec::new(),
            probes: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let (root, author) = writer(bytes)?;
        let seen = self.seen(bytes)?;
        let kind = self.kind(root, bytes)?;
        let log_place = byte(bytes)? as u64 % 4;
        let cutoff = match kind {
            Kind::Remove { .. }
            | Kind::StepDown { .. }
            | Kind::Assign { .. }
            | Kind::Revoke { .. } => cutoff(bytes)?,
            _ => Cutoff::default(),
        };
        self.events.push(Event {
            id: id_of(self.events.len(), self.salt),
            key: keys::of(&kind, &root).into(),
            root,
            author,
            seen,
            log_place,
            cutoff,
            kind,
        });
        Ok(())
    }

    pub(super) fn record(&mut self, bytes: &mut Unstructured<'_>) -> Result<()> {
        let (root, author) = writer(bytes)?;
        let seen = self.seen(bytes)?;
        let how = byte(bytes)?;
        let within = match how & 1 {
            0 => None,
            _ => Some(self.seen(bytes)?),
        };
        self.probes.push(Probe {
            id: id_of(self.probes.len() + (1 << 12), self.salt),
            root,
            seen,
            author,
            collection: one(&COLLECTIONS, bytes)?.into(),
            place: byte(bytes)? as u64 % 4,
            deletes: how & 2 != 0,
            by_creator: how & 4 != 0,
            body: pool::body(how >> 5),
            within,
            blind: how & 8 != 0,
            stub: how & 16 != 0,
        });
        Ok(())
    }

    fn id(&self, place: usize) -> ContentId {
        id_of(place, self.salt)
    }

    /// Which events a writer names: the last, some before it, all, or what isn't there.
    fn seen(&self, bytes: &mut Unstructured<'_>) -> Result<Vec<ContentId>> {
        let all = self.events.len();
        let back = |steps: usize| all.checked_sub(1 + steps).map(|place| self.id(place));
        Ok(match byte(bytes)? {
            0..80 => back(0).into_iter().collect(),
            how @ 80..160 => back(how % 20).into_iter().collect(),
            160..220 => {
                let mut seen: Vec<ContentId> = back(byte(bytes)?).into_iter().collect();
                seen.extend(back(byte(bytes)? % 8));
                seen
            }
            220..228 => (0..all).map(|place| self.id(place)).collect(),
            228..236 => Vec::new(),
            236..240 => vec![self.space],
            // More than may be named, some again and again.
            240..244 => (0..70).map(|step| self.id(step % (all + 1))).collect(),
            // To come, or itself, or never.
            244..250 => vec![self.id(all + byte(bytes)? % 4)],
            _ => vec![self.space, ContentId::of(b"an event nobody has")],
        })
    }

    fn kind(&self, root: Did, bytes: &mut Unstructured<'_>) -> Result<Kind> {
        let account = |bytes: &mut Unstructured<'_>| {
            let number = byte(bytes)?;
            Ok(match number {
                0..40 => pool::text(&root),
                255 => NOBODY.into(),
                _ => pool::text(&pool::accounts()[number % pool::accounts().len()]),
            })
        };
        let role = |bytes: &mut Unstructured<'_>| one(&ROLES, bytes);
        Ok(match byte(bytes)? % 20 {
            0..4 => Kind::Assign {
                did: account(bytes)?,
                role: role(bytes)?.into(),
                assigned: true,
                via_invite: None,
            },
            4..6 => Kind::Assign {
                did: account(bytes)?,
                role: role(bytes)?.into(),
                assigned: false,
                via_invite: None,
            },
            6 => Kind::Assign {
                did: account(bytes)?,
                role: role(bytes)?.into(),
                assigned: !bytes.ratio(1, 16)?,
                via_invite: Some(one(pool::invites(), bytes)?),
            },
            7..9 => Kind::Remove {
                did: account(bytes)?,
            },
            9..11 => Kind::Invite {
                invite_key: pool::text(&one(pool::invites(), bytes)?),
                role: role(bytes)?.into(),
                open: !bytes.ratio(1, 3)?,
            },
            11..13 => Kind::Role(role_definition(bytes)?),
            13 => Kind::Revoke {
                target: pool::text(&one(pool::keys(), bytes)?),
            },
            14 => Kind::Definition {
                name: one(&COLLECTIONS[..2], bytes)?.into(),
                deleted: bytes.ratio(1, 3)?,
            },
            15 => Kind::Key {
                key_id: format!("{:022}", byte(bytes)? % 8).into(),
                read_key: pool::text(&one(pool::read_keys(), bytes)?),
            },
            16 => match byte(bytes)? % 3 {
                0 => Kind::Relays {
                    relays: vec![format!("wss://{}.example", byte(bytes)? % 4).into()],
                },
                1 => Kind::Relays {
                    relays: vec!["no relay".into()],
                },
                _ => Kind::Keepers {
                    keepers: vec![Keeper {
                        did: pool::text(&one(pool::accounts(), bytes)?),
                        name: "a node".into(),
                    }],
                    copies: Some(2),
                },
            },
            17 => {
                const LINES: [&str; 6] = [
                    "sys.assign",
                    "sys.role",
                    "sys.remove",
                    "sys.stepdown",
                    "sys.invite",
                    "app.chat",
                ];
                Kind::Fork {
                    writer: one(pool::keys(), bytes)?,
                    collection: one(&LINES, bytes)?.into(),
                    from: byte(bytes)? as u64 % 4,
                }
            }
            18 => Kind::StepDown {
                did: account(bytes)?,
            },
            _ => Kind::Succeed {
                space: ContentId::of(&[u8::arbitrary(bytes)? % 2]),
            },
        })
    }
}

/// An account, and the key it signs with: its own, a device's, or now and then another account's.
fn writer(bytes: &mut Unstructured<'_>) -> Result<(Did, Did)> {
    let number = byte(bytes)?;
    let accounts = pool::accounts();
    let place = number % accounts.len();
    let author = match number / accounts.len() % 8 {
        0..4 => place,
        4 | 5 => place + accounts.len(),
        6 => place + 2 * accounts.len(),
        _ => (place + 1) % accounts.len(),
    };
    Ok((accounts[place], pool::keys()[author]))
}

fn role_definition(bytes: &mut Unstructured<'_>) -> Result<RoleDefinition> {
    let name = one(&ROLES, bytes)?;
    let grants = space::grants(bytes)?.into_iter().map(|written: Value| {
        let object = written.as_object().expect("a grant");
        let cmd = object.get("cmd").and_then(Value::as_text);
        let pol = object.get("pol").map(Policy::read);
        Grant {
            cmd: cmd.expect("a command").clone(),
            pol: pol.expect("a policy").expect("a good policy"),
            canonical: written.canonical(),
        }
    });
    let grants = grants.collect();
    let nests = space::nests(name, bytes)?;
    Ok(RoleDefinition {
        name: name.into(),
        title: None,
        grants,
        nests: nests.into_iter().map(Into::into).collect(),
    })
}

/// None, as a rule; else a line or two.
fn cutoff(bytes: &mut Unstructured<'_>) -> Result<Cutoff> {
    const LINES: [&str; 8] = [
        "sys.assign",
        "sys.remove",
        "sys.role",
        "sys.invite",
        "sys.stepdown",
        "sys.collection",
        "app.chat",
        "app.notes",
    ];
    let mut covered: BTreeMap<Text, BTreeMap<Text, u64>> = BTreeMap::new();
    for _ in 0..byte(bytes)?.saturating_sub(128) % 4 {
        let key = pool::text(&one(pool::keys(), bytes)?);
        let line: Text = one(&LINES, bytes)?.into();
        let lines = covered.entry(key).or_default();
        lines.insert(line, byte(bytes)? as u64 % 4);
    }
    Ok(covered.into())
}
