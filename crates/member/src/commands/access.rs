//! Showing who may do what in a space, as the changes held come to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use clap::Args;
use minca_access::history::{RoleState, State};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};

use super::changing::{Changing, tell_key_due};
use super::{WhichSpace, name, plain, print_json, visibility};
use crate::folder::MemberFolder;
use crate::gatekeeper::root_of;
use crate::replica::Replica;

/// `holdfast member access`
#[derive(Clone, Debug, Args)]
pub struct AccessArgs {
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn show(
    folder: &MemberFolder,
    args: &AccessArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let Changing { entry, replica, .. } = Changing::open(folder, &args.which)?;
    let state = replica.gatekeeper().history().current();
    if args.json {
        return print_json(out, &as_json(&replica, &state));
    }
    writeln!(out, "{:?}, a {} space", name(&entry), visibility(&entry))?;
    writeln!(out, "  id       {}", entry.space.id())?;
    members(&state, &folder.account().did(), out)?;
    roles(&state, out)?;
    invites(&state, out)?;
    keys(&state, &replica, out)?;
    own_keys(&replica, out)?;
    network(&state, out)?;
    taken_back(&replica, out)?;
    heading(
        out,
        "Heads",
        replica.gatekeeper().history().heads().is_empty(),
    )?;
    for head in replica.gatekeeper().history().heads() {
        writeln!(out, "  {head}")?;
    }
    tell_key_due(&replica, out)
}

/// The state as its JSON has it, and what goes with it: `members`, `heads`, `heldKeys`, `revoked`,
/// `forks`, `malformedKeys`, and of this member `account`, `device`, its key, and `devices`, the
/// keys its account is seen to sign with.
fn as_json(replica: &Replica, state: &State) -> Object {
    let mut json = state.to_json();
    let members = members_of(state).into_iter().map(|(account, roles)| {
        let roles = roles.into_iter().cloned().map(Value::from);
        (account.clone(), Value::from(roles.collect::<Vec<Value>>()))
    });
    let members: Object = members.collect();
    json.insert("members", members);
    json.insert("account", replica.device().account().did().to_string());
    json.insert("device", replica.device().did().to_string());
    let devices = own_keys_of(replica).into_iter().map(Value::from);
    json.insert("devices", devices.collect::<Vec<Value>>());
    json.insert("space", replica.space().id().to_string());
    let mut history = replica.gatekeeper().history();
    json.insert("heads", ids(&history.heads()));
    let revoked = history.revokes().into_iter().map(|(key, account, event)| {
        Value::from(Object::from([
            ("key", Value::from(key)),
            ("account", account.into()),
            ("event", event.to_string().into()),
        ]))
    });
    json.insert("revoked", revoked.collect::<Vec<Value>>());
    let forks = history
        .forks()
        .into_iter()
        .map(|(key, collection, from, event)| {
            Value::from(Object::from([
                ("writer", Value::from(key)),
                ("collection", collection.into()),
                ("from", from.into()),
                ("event", event.to_string().into()),
            ]))
        });
    json.insert("forks", forks.collect::<Vec<Value>>());
    drop(history);
    let held = replica.space().space_keys().map(|key| key.key_id().into());
    json.insert("heldKeys", held.collect::<Vec<Value>>());
    json.insert("malformedKeys", ids(&replica.malformed_key_changes()));
    json
}

fn ids(ids: &[ContentId]) -> Vec<Value> {
    ids.iter().map(|id| id.to_string().into()).collect()
}

/// Founders and everyone with a role, each with its roles.
fn members_of(state: &State) -> BTreeMap<&Text, Vec<&Text>> {
    let founders = state.founders.iter().map(|founder| (founder, Vec::new()));
    let mut members: BTreeMap<&Text, Vec<&Text>> = founders.collect();
    for (account, roles) in &state.assigned {
        members.entry(account).or_default().extend(roles.keys());
    }
    members
}

fn members(state: &State, own: &Did, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let members = members_of(state);
    heading(out, "Members", members.is_empty())?;
    for (account, roles) in members {
        let is_founder = state.founders.contains(account);
        let founder = is_founder.then(|| "founder".to_owned());
        let roles = founder.into_iter().chain(roles.into_iter().map(role_shown));
        let roles = roles.collect::<Vec<_>>().join(", ");
        let is_own = *account == own.to_string().as_str();
        let own = if is_own { " (this member)" } else { "" };
        writeln!(out, "  {}  {roles}{own}", shown(account))?;
    }
    Ok(())
}

fn roles(state: &State, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    heading(out, "Roles", state.roles.is_empty())?;
    for (role, definitions) in &state.roles {
        let rivals = match definitions.len() {
            1 => String::new(),
            some => format!(" ({some} rival definitions: it holds what all of them say)"),
        };
        writeln!(out, "  {}{rivals}", shown(role))?;
        for definition in definitions {
            define(definition, out)?;
        }
    }
    Ok(())
}

fn define(definition: &RoleState, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    if let Some(title) = &definition.title {
        writeln!(out, "    {:?}", shown(title))?;
    }
    for grant in &definition.grants {
        // The canonical form of a grant is always UTF-8.
        writeln!(
            out,
            "    {}",
            plain(&String::from_utf8_lossy(&grant.canonical))
        )?;
    }
    for nested in &definition.nests {
        writeln!(out, "    all that {} may", plain(nested))?;
    }
    if let Some(by) = &definition.by {
        writeln!(out, "    defined by {by}")?;
    }
    Ok(())
}

fn invites(state: &State, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    heading(out, "Invites", state.invites.is_empty())?;
    for (key, invite) in &state.invites {
        let how = if invite.open { "open" } else { "closed" };
        writeln!(out, "  {}  {}, {how}", shown(key), shown(&invite.role))?;
    }
    Ok(())
}

fn keys(state: &State, replica: &Replica, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    if state.keys.is_empty() {
        return Ok(());
    }
    heading(out, "Keys", false)?;
    let malformed = replica.malformed_key_changes();
    for (place, key) in state.keys.iter().enumerate() {
        let held = key.key_id.as_str();
        let held = held.and_then(|key_id| replica.space().held_key(key_id));
        let held = if held.is_some() { "held" } else { "not held" };
        let is_last = place + 1 == state.keys.len();
        let current = if is_last { ", current" } else { "" };
        let malformed = match malformed.contains(&key.event) {
            true => ", malformed: it opens no earlier keys and calls for another change",
            false => "",
        };
        writeln!(out, "  {}  {held}{current}{malformed}", shown(&key.key_id))?;
    }
    Ok(())
}

/// The keys this account signed with, as far as is held here, and this device's: what
/// `key revoke` takes.
fn own_keys_of(replica: &Replica) -> BTreeSet<String> {
    let account = replica.device().account().did();
    let held = replica.holdings().versions();
    let own = held.filter(|version| root_of(version) == Some(account));
    let own = own.filter_map(|version| Some(version.author().as_str()?.to_owned()));
    own.chain([replica.device().did().to_string()]).collect()
}

fn own_keys(replica: &Replica, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    heading(out, "This account signs with", false)?;
    let device = replica.device().did().to_string();
    for key in own_keys_of(replica) {
        let this = if key == device { "  (this device)" } else { "" };
        writeln!(out, "  {key}{this}")?;
    }
    Ok(())
}

fn network(state: &State, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    if !state.relays.is_empty() {
        heading(out, "Relays", false)?;
        for relay in &state.relays {
            writeln!(out, "  {}", shown(relay))?;
        }
    }
    if !state.keepers.is_empty() {
        let copies = match state.copies {
            None => String::new(),
            Some(copies) => format!(" (copies: {copies})"),
        };
        heading(out, &format!("Keepers{copies}"), false)?;
        for keeper in &state.keepers {
            writeln!(out, "  {}  {}", shown(&keeper.did), shown(&keeper.name))?;
        }
    }
    if !state.successors.is_empty() {
        heading(out, "Successors", false)?;
        for (space, by) in &state.successors {
            let by: Vec<String> = by.iter().map(shown).collect();
            writeln!(out, "  {}  named by {}", shown(space), by.join(", "))?;
        }
    }
    Ok(())
}

/// Keys that were revoked, and lines proven forked.
fn taken_back(replica: &Replica, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let (revoked, forks) = {
        let mut history = replica.gatekeeper().history();
        (history.revokes(), history.forks())
    };
    if !revoked.is_empty() {
        heading(out, "Revoked keys", false)?;
        for (key, account, _) in revoked {
            writeln!(out, "  {}  of {}", shown(&key), shown(&account))?;
        }
    }
    if !forks.is_empty() {
        heading(out, "Forked lines", false)?;
        for (key, collection, from, _) in forks {
            writeln!(
                out,
                "  {}  {} from place {from}",
                shown(&key),
                shown(&collection)
            )?;
        }
    }
    Ok(())
}

fn heading(out: &mut (dyn Write + Send), heading: &str, is_none: bool) -> anyhow::Result<()> {
    let none = if is_none { ": none" } else { "" };
    Ok(writeln!(out, "{heading}{none}")?)
}

/// A role an account has. One may be called `founder`, and makes nobody one.
fn role_shown(role: &Text) -> String {
    match *role == "founder" {
        true => "founder (a role of that name)".to_owned(),
        false => shown(role),
    }
}

/// What a stranger wrote, with control characters escaped.
fn shown(text: &Text) -> String {
    plain(text.as_str().unwrap_or("(unreadable)"))
}
