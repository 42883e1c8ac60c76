//! Bringing a space level with its hosts.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use minca_record::json::{Object, Value};
use minca_record::url::NodeUrl;

use super::{WhichSpace, print_json};
use crate::client::redial::{Ended, Redial, sends_less_after};
use crate::client::{ConnectError, Connection, ConnectionError, Options};
use crate::folder::{MemberFolder, SpaceEntry, pinned};
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
pub(super) fn node_url(text: &str) -> anyhow::Result<NodeUrl> {
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
    if entry.nodes.is_empty() {
        bail!("this space has no host yet: give one with --node");
    }
    let mut replica = folder.replica(&entry)?;
    if replica.needs_fresh_key() {
        renew(folder, &mut replica, out)?;
    }
    let mut failed = 0;
    for place in 0..entry.nodes.len() {
        let synced = sync_with(folder, &mut entry, place, &mut replica, args, out).await;
        if let Err(error) = synced {
            failed += 1;
            writeln!(
                out,
                "Not level with {}: {error:#}",
                super::plain(&entry.nodes[place])
            )?;
        }
        if replica.needs_fresh_key() {
            renew(folder, &mut replica, out)?;
        }
    }
    if args.watch {
        return watch(folder, &mut entry, &mut replica, out).await;
    }
    match failed {
        0 => Ok(()),
        some => bail!(
            "{some} of {} hosts couldn't be brought level",
            entry.nodes.len()
        ),
    }
}

async fn sync_with(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    place: usize,
    replica: &mut Replica,
    args: &SyncArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let before = replica.holdings().len();
    let mut connection = connect(folder, entry, place, replica).await?;
    let node = connection.node();
    let level = connection
        .sync_until_level(replica, Duration::from_secs(args.timeout))
        .await;
    let refused = replica.sync().unacknowledged(&node).len();
    connection.close(replica).await;
    level.with_context(|| match refused {
        0 => "the host and this device don't hold the same yet".to_owned(),
        some => format!("the host didn't acknowledge {some} versions of this device"),
    })?;
    let held = replica.holdings().len();
    let device = replica.device().did();
    let unconfirmed = replica.holdings().unconfirmed(&device).len();
    if args.json {
        let synced = Object::from([
            ("node", Value::from(node.to_string())),
            ("versions", Value::from(held as u64)),
            ("new", Value::from((held - before) as u64)),
            ("unconfirmed", Value::from(unconfirmed as u64)),
        ]);
        return print_json(out, &synced);
    }
    writeln!(out, "Level with {node}")?;
    writeln!(out, "  versions {held} (new here: {})", held - before)?;
    if unconfirmed > 0 {
        writeln!(
            out,
            "  waiting  {unconfirmed} (of this device, and confirmed by no host)"
        )?;
    }
    Ok(())
}

/// Connects to a node, and keeps the DID it is met under where none was known.
async fn connect(
    folder: &MemberFolder,
    entry: &mut SpaceEntry,
    place: usize,
    replica: &mut Replica,
) -> anyhow::Result<Connection> {
    let url = node_url(&entry.nodes[place])?;
    let connection = Connection::open(&url, replica, Options::default()).await?;
    if url.pin().is_none() {
        entry.nodes[place] = pinned(&url, connection.node());
    }
    folder.save_space(entry)?;
    Ok(connection)
}

/// Stays connected and tells what comes, until it is stopped.
async fn watch(
    folder: &mut MemberFolder,
    entry: &mut SpaceEntry,
    replica: &mut Replica,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut redial = Redial::new();
    loop {
        let url = node_url(&entry.nodes[0])?;
        let ended = match Connection::open(&url, replica, Options::default()).await {
            Err(ConnectError::Randomness(error)) => return Err(error.into()),
            Err(ConnectError::Dial(error)) => {
                writeln!(out, "Not connected: {error}")?;
                error.ended()
            }
            Ok(connection) => {
                redial.welcomed();
                writeln!(out, "Connected. Waiting for changes; stop with Ctrl-C.")?;
                watch_one(connection, replica, out).await?
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
    replica: &mut Replica,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<Ended> {
    let mut known = replica.holdings().len();
    loop {
        let changed = |replica: &Replica| replica.holdings().len() != known;
        match connection.drive(replica, HELLO_INTERVAL, changed).await {
            Ok(()) => {
                let now = replica.holdings().len();
                let records = replica.records(None).len();
                writeln!(out, "New here: {} (records now: {records})", now - known)?;
                known = now;
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
