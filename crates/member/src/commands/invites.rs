//! Invites: making them, closing them, and joining by one (03 §7).

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use minca_access::{InvitationDraft, Invite, check_invitation, encode_invite, invite_in};
use minca_record::derive::invite_key;
use minca_record::json::{Object, Text, Value};
use minca_record::url::NodeUrl;

use super::changing::{Changing, Deed, explained, tell_written};
use super::{WhichSpace, name, plain, print_json, visibility};
use crate::access;
use crate::clock::UnixTime;
use crate::entry::SpaceEntry;
use crate::folder::{MemberFolder, pinned};
use crate::randomness::{SystemRandomness, random_bytes};
use crate::replica::WriteError;
use crate::space::{Space, SpaceError};

/// `holdfast member invite`
#[derive(Clone, Debug, Subcommand)]
pub enum InviteCommand {
    /// Open an invite to a role, and print it. Whoever has it joins, until it is closed.
    Open(OpenArgs),
    /// Print an invite to read: it lets nobody write, and can't be closed.
    View(ViewArgs),
    /// Close an invite.
    Close(CloseArgs),
}

/// `holdfast member invite open`
#[derive(Clone, Debug, Args)]
pub struct OpenArgs {
    /// The role it gives.
    pub role: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member invite view`
#[derive(Clone, Debug, Args)]
pub struct ViewArgs {
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member invite close`
#[derive(Clone, Debug, Args)]
pub struct CloseArgs {
    /// The invite, or its key as `holdfast member access` shows it.
    pub invite: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(
    folder: &MemberFolder,
    command: &InviteCommand,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    match command {
        InviteCommand::Open(args) => open(folder, args, out),
        InviteCommand::View(args) => view(folder, args, out),
        InviteCommand::Close(args) => close(folder, args, out),
    }
}

fn open(
    folder: &MemberFolder,
    args: &OpenArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let secret = random_bytes(&mut SystemRandomness)?;
    let key = invite_key(&secret).did().to_string();
    let invitation = invitation(&mut changing, Some(&args.role))?;
    let write = access::invite(&key, &args.role, true);
    let deed = Deed("Opened", "opening", format!("an invite to {}", args.role));
    let version = deed.explained(changing.replica.write(write, UnixTime::now()))?;
    let invite = encode_invite(&invitation, Some(&secret));
    if args.json {
        let opened = Object::from([
            ("invite", Value::from(invite)),
            ("key", key.into()),
            ("role", args.role.as_str().into()),
            ("id", version.id().to_string().into()),
        ]);
        return print_json(out, &opened);
    }
    let done = format!("Opened an invite to {}, whose key is {key}", args.role);
    tell_written(&done, &[version], false, out)?;
    writeln!(out, "Whoever has this joins, so it is a secret:")?;
    writeln!(out, "{invite}")?;
    Ok(())
}

fn view(
    folder: &MemberFolder,
    args: &ViewArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let invite = encode_invite(&invitation(&mut changing, None)?, None);
    if args.json {
        return print_json(out, &Object::from([("invite", invite)]));
    }
    if changing.entry.space.is_private() {
        writeln!(out, "Whoever has this reads the space, so it is a secret:")?;
    }
    writeln!(out, "{invite}")?;
    Ok(())
}

/// The invitation, signed by this device.
fn invitation(changing: &mut Changing, role: Option<&str>) -> anyhow::Result<Object> {
    let now = UnixTime::now();
    let note = changing.replica.note(now)?;
    let replica = &changing.replica;
    let space = replica.space();
    let key = space.current_key();
    if space.is_private() && key.is_none() {
        return explained(Err(WriteError::Space(SpaceError::CurrentKeyMissing)));
    }
    let relays = replica.gatekeeper().history().current().relays;
    let relays: Vec<&str> = relays.iter().filter_map(Text::as_str).collect();
    // A node is named with its pin, and one without has never been met.
    let nodes = changing.entry.nodes.iter();
    let pinned = nodes.filter(|node| NodeUrl::parse(node).is_ok());
    let nodes: Vec<&str> = pinned.map(String::as_str).collect();
    let draft = InvitationDraft {
        space: space.constitution(),
        key,
        role,
        relays: &relays,
        nodes: &nodes,
    };
    let random = random_bytes(&mut SystemRandomness)?;
    Ok(draft.sign(replica.device().key(), note, &now.to_string(), random))
}

fn close(
    folder: &MemberFolder,
    args: &CloseArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut changing = Changing::open(folder, &args.which)?;
    let given = args.invite.trim();
    let key = match given.starts_with("did:key:") {
        true => given.to_owned(),
        false => {
            let invite = Invite::parse(invite_in(given)).and_then(check_invitation);
            let invite = invite.context(
                "expected an invite, or its key as `holdfast member access` shows it, did:key:zDn…",
            )?;
            ensure!(
                invite.space.id() == changing.entry.space.id(),
                "that invite is to another space"
            );
            let Some(secret) = invite.secret else {
                bail!(
                    "that invite lets nobody write, and can't be closed: only a key change ends it"
                );
            };
            invite_key(&secret).did().to_string()
        }
    };
    let state = changing.replica.gatekeeper().history().current();
    let Some(opened) = state.invites.get(&Text::from(key.as_str())) else {
        bail!("no invite with the key {key} is known here: `holdfast member access` lists them");
    };
    if !opened.open {
        let caveat = "That invite was closed before this".to_owned();
        changing.caveats.push(caveat);
    }
    let role = opened.role.as_str().unwrap_or_default().to_owned();
    let deed = Deed("Closed", "closing", format!("the invite {key} to {role}"));
    let write = access::invite(&key, &role, false);
    changing.make(&deed, write, args.json, out)
}

/// An invite in a file, or given as it is.
pub(super) fn invite_given(given: &Path) -> anyhow::Result<Option<String>> {
    if !std::fs::exists(given).unwrap_or(false) {
        return Ok(given.to_str().map(|text| text.trim().to_owned()));
    }
    let text = std::fs::read_to_string(given);
    let text = text.with_context(|| format!("reading {}", given.display()))?;
    let text = text.trim();
    Ok((!text.starts_with('{')).then(|| text.to_owned()))
}

/// What an invite lets this device keep of a space.
pub(super) fn entry_of(text: &str) -> anyhow::Result<SpaceEntry> {
    let invitation = Invite::parse(invite_in(text)).and_then(check_invitation);
    let invitation = invitation.context(
        "expected a space card's file, or an invite: by itself, in a file, or behind `invite=` in a link",
    )?;
    let nodes = invitation.nodes.iter();
    let nodes = nodes.filter_map(|url| Some(pinned(url, url.pin()?)));
    Ok(SpaceEntry {
        invited_nodes: nodes.collect(),
        invite_secret: invitation.secret,
        ..SpaceEntry::new(Space::holding(invitation.space, invitation.key), Vec::new())
    })
}

/// Tells of a space somebody invited to.
pub(super) fn tell_invited(
    folder: &MemberFolder,
    entry: &SpaceEntry,
    json: bool,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    if json {
        let invited = Object::from([
            ("space", Value::from(entry.space.id().to_string())),
            ("account", folder.account().did().to_string().into()),
            ("joins", entry.invite_secret.is_some().into()),
        ]);
        return print_json(out, &invited);
    }
    writeln!(
        out,
        "Invited to {:?}, a {} space",
        name(entry),
        visibility(entry)
    )?;
    writeln!(out, "  id       {}", entry.space.id())?;
    writeln!(out, "  as       {}", folder.account().did())?;
    for node in &entry.invited_nodes {
        writeln!(out, "  host     {}", plain(node))?;
    }
    let then = match entry.invite_secret {
        Some(_) => "which joins once the invite has come",
        None => "and the space can be read",
    };
    match entry.nodes.is_empty() && entry.invited_nodes.is_empty() {
        true => writeln!(
            out,
            "Next: `holdfast member sync --node <node URL>`, {then}"
        )?,
        false => writeln!(out, "Next: `holdfast member sync`, {then}")?,
    }
    Ok(())
}
