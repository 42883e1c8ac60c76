//! Bringing a space level with its hosts.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use minca_record::json::{Object, Text, Value};
use minca_record::url::NodeUrl;
use minca_sync::close::Close;

use super::changing::tell_key_due;
use super::upkeep::upkeep;
use super::{WhichSpace, app_records, print_json};
use crate::client::redial::{Ended, Redial, sends_less_after};
use crate::client::{ConnectError, Connection, ConnectionError, DialError, Options};
use crate::entry::SpaceEntry;
use crate::folder::{MemberFolder, pinned};
use crate::randomness::{Randomness, SystemRandomness, random_bytes};
use crate::replica::Replica;

/// How often hello is said on a connection that is watched.
const HELLO_INTERVAL: Duration = Duration::from_secs(300);

/// `holdfast member sync`
#[derive(Clone, Debug, Args)]
pub struct SyncArgs {
    /// A host to sync with, from now on: its node URL, with its DID behind a `#`. Without a DID
    /// the one met there first is kept.
    #[arg(long)]
    pub node: Vec<String>,
    /// Seconds until every host must be level.
    #[arg(long, default_value_t = 60)]
    pub timeout: u64,
    /// Stay connected to the first host, dialling again when the connection is lost, and tell what
    /// comes.
    #[arg(long)]
    pub watch: bool,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON, a line for each host.
    #[arg(long)]
    pub json: bool,
}

/// Reads a node URL a person typed.
///
/// # Errors
/// It is none; in words for whoever typed it.
pub fn node_url(text: &str) -> anyhow::Result<NodeUrl> {
    let form = "as wss://host.example/peer#did:key:zDn…, or ws:// on this machine";
    NodeUrl::parse_typed(text).with_context(|| format!("{text:?} is no node URL, {form}"))
}

pub(super) async fn sync(
    folder: &mut MemberFolder,
    args: &SyncArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut entry = args.which.find(folder)?;
    for node in &args.node {
        let url = node_url(node)?;
        let same_address = |known: &String| {
            NodeUrl::parse_typed(known).is_ok_and(|known| known.address() == url.address())
        };
        entry.nodes.retain(|known| !same_address(known));
        entry.nodes.push(node.clone());
    }
    let mut replica = folder.replica(&entry)?;
    let mut nodes = entry.nodes.clone();
    nodes.extend(invited_nodes(&entry, &replica));
    if nodes.is_empty() {
        bail!("this space has no host yet: give one with --node");
    }
    if replica.needs_fresh_key() {
        renew(folder, &mut replica, out)?;
    }
    let mut failed = 0;
    for node in &nodes {
        let synced = sync_with(folder, &mut entry, node, &mut replica, args, out).await;
        if let Err(error) = synced {
            failed += 1;
            let why = super::plain(&super::told(&error));
            writeln!(out, "Not level with {}: {why}", super::plain(node))?;
            if let Some(ConnectError::Dial(error)) = error.downcast_ref() {
                tell_key_lacking(error, out)?;
            }
        }
        if replica.needs_fresh_key() {
            renew(folder, &mut replica, out)?;
        }
    }
    if args.watch {
        // The first may be pinned since.
        let node = entry.nodes.first().cloned().unwrap_or(nodes.swap_remove(0));
        return watch(folder, &mut entry, &node, &mut replica, out).await;
    }
    match failed {
        0 => Ok(()),
        some => bail!("{some} of {} hosts couldn't be brought level", nodes.len()),
    }
}

/// What helps a member whose key lets it in no more.
const KEY_LACKING: &str = "The space's key may have changed while this device was away. Who reads the space still has the new one: `holdfast member card <file>` or `holdfast member invite view` there, then `holdfast member join` with it here.";

/// Says what helps where a host closed because this device didn't prove that it reads the space.
fn tell_key_lacking(error: &DialError, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
    let DialError::Closed { code, .. } = error else {
        return Ok(());
    };
    if *code == Some(Close::NotAReader.code()) {
        writeln!(out, "{KEY_LACKING}")?;
    }
    Ok(())
}

/// The nodes an invite named that are to be dialled: once the space names keepers, only those that
/// are one (03 §7.4).
fn invited_nodes(entry: &SpaceEntry, replica: &Replica) -> Vec<String> {
    let keepers = replica.gatekeeper().history().current().keepers;
    let is_kept = |node: &&String| {
        let pin = NodeUrl::parse(node).ok().and_then(|url| url.pin());
        let pin = pin.map(|pin| Text::from(pin.to_string()));
        keepers.is_empty()
            || keepers
                .iter()
                .any(|keeper| Some(&keeper.did) == pin.as_ref())
    };
    let invited = entry.invited_nodes.iter().filter(is_kept);
    let is_new = |node: &&String| !entry.nodes.contains(node);
    invited.filter(is_new).cloned().collect()
}

async fn sync_with(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    node: &str,
    replica: &mut Replica,
    args: &SyncArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let before = replica.holdings().len();
    let mut connection = connect(folder, entry, node, replica).await?;
    let node = connection.node();
    let timeout = Duration::from_secs(args.timeout);
    let mut level = connection.sync_until_level(replica, timeout).await;
    let (mut wrote, mut told) = (0, Vec::new());
    if level.is_ok() {
        let done = upkeep(folder, entry, replica)?;
        (wrote, told) = (done.written.len(), done.told);
        for version in &done.written {
            connection.push(replica, version).await?;
        }
        if !done.written.is_empty() {
            level = connection.sync_until_level(replica, timeout).await;
        }
    }
    let refused = replica.sync().unacknowledged(&node).len();
    connection.close(replica).await;
    level.with_context(|| match refused {
        0 => "the host and this device don't hold the same yet".to_owned(),
        some => format!("the host didn't acknowledge {some} versions of this device"),
    })?;
    let held = replica.holdings().len();
    let new = held.saturating_sub(before + wrote);
    let device = replica.device().did();
    let unconfirmed = replica.holdings().unconfirmed(&device).len();
    if args.json {
        let told: Vec<Value> = told.into_iter().map(Value::from).collect();
        let synced = Object::from([
            ("node", Value::from(node.to_string())),
            ("versions", Value::from(held as u64)),
            ("new", Value::from(new as u64)),
            ("unconfirmed", Value::from(unconfirmed as u64)),
            ("wrote", Value::from(wrote as u64)),
            ("told", told.into()),
        ]);
        return print_json(out, &synced);
    }
    writeln!(out, "Level with {node}")?;
    writeln!(out, "  versions {held} (new here: {new})")?;
    if unconfirmed > 0 {
        writeln!(
            out,
            "  waiting  {unconfirmed} (of this device, and confirmed by no host)"
        )?;
    }
    for told in told {
        writeln!(out, "{}", super::plain(&told))?;
    }
    tell_key_due(replica, out)
}

/// Connects to a node, and keeps the DID it is met under where none was known.
async fn connect(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    node: &str,
    replica: &mut Replica,
) -> anyhow::Result<Connection> {
    let url = node_url(node)?;
    let connection = Connection::open(&url, replica, Options::default()).await?;
    if url.pin().is_none() {
        for known in entry.nodes.iter_mut().filter(|known| *known == node) {
            *known = pinned(&url, connection.node());
        }
    }
    folder.save_space(entry)?;
    Ok(connection)
}

/// Stays connected and tells what comes, until it is stopped.
async fn watch(
    folder: &mut MemberFolder,
    entry: &mut SpaceEntry,
    node: &str,
    replica: &mut Replica,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut redial = Redial::new();
    loop {
        let url = node_url(node)?;
        let ended = match Connection::open(&url, replica, Options::default()).await {
            Err(ConnectError::Randomness(error)) => return Err(error.into()),
            Err(ConnectError::Dial(error)) => {
                writeln!(out, "Not connected: {error}")?;
                tell_key_lacking(&error, out)?;
                error.ended()
            }
            Ok(connection) => {
                redial.welcomed();
                writeln!(out, "Connected. Waiting for changes; stop with Ctrl-C.")?;
                watch_one(connection, folder, entry, replica, out).await?
            }
        };
        if replica.needs_fresh_key() {
            renew(folder, replica, out)?;
        }
        if sends_less_after(ended) {
            replica.send_less();
        }
        let wait = redial.wait(ended, draw(&mut SystemRandomness)?);
        writeln!(out, "Dialling again in {:.0} s", wait.as_secs_f64())?;
        tokio::time::sleep(wait).await;
    }
}

async fn watch_one(
    mut connection: Connection,
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    replica: &mut Replica,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<Ended> {
    let mut known = replica.holdings().len();
    loop {
        let changed = |replica: &Replica| replica.holdings().len() != known;
        match connection.drive(replica, HELLO_INTERVAL, changed).await {
            Ok(()) => {
                let now = replica.holdings().len();
                let records = app_records(replica).len();
                writeln!(out, "New here: {} (records now: {records})", now - known)?;
                let done = upkeep(folder, entry, replica)?;
                for told in done.told {
                    writeln!(out, "{}", super::plain(&told))?;
                }
                for version in &done.written {
                    if let Err(error) = connection.push(replica, version).await {
                        writeln!(out, "Lost: {error}")?;
                        return Ok(error.ended());
                    }
                }
                known = replica.holdings().len();
            }
            Err(ConnectionError::TimedOut { .. }) => connection.say_hello(replica),
            Err(error @ ConnectionError::Journal(_)) => return Err(error.into()),
            Err(error) => {
                writeln!(out, "Lost: {error}")?;
                return Ok(error.ended());
            }
        }
    }
}

fn renew(
    folder: &mut MemberFolder,
    replica: &mut Replica,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    folder.take_fresh_key(&mut SystemRandomness)?;
    replica.use_device(folder.device());
    writeln!(
        out,
        "A copy of this device wrote under its key; it goes on under a fresh one."
    )?;
    Ok(())
}

/// A number from 0 to 1.
fn draw(randomness: &mut dyn Randomness) -> anyhow::Result<f64> {
    let bytes = random_bytes::<4>(randomness)?;
    Ok(f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX))
}
