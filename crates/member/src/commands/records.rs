//! Writing and listing records.

use std::io::{Read, Write};

use anyhow::{Context, bail};
use clap::Args;
use minca_record::json::{MESSAGE_DEPTH, Object, Value, read};
use minca_record::version::Version;

use super::changing::explained;
use super::{WhichSpace, app_records, plain, print_json};
use crate::clock::UnixTime;
use crate::folder::MemberFolder;
use crate::replica::{Record, Replica};
use crate::space::Opened;

/// `holdfast member write`
#[derive(Clone, Debug, Args)]
pub struct WriteArgs {
    /// The collection, as `app.note`.
    pub collection: String,
    /// The content as JSON, or `-` to read it from standard input.
    pub body: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member edit`
#[derive(Clone, Debug, Args)]
pub struct EditArgs {
    /// The record's key, or how it ends.
    pub key: String,
    /// The content as JSON, or `-` to read it from standard input.
    pub body: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member delete`
#[derive(Clone, Debug, Args)]
pub struct DeleteArgs {
    /// The record's key, or how it ends.
    pub key: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// `holdfast member list`
#[derive(Clone, Debug, Args)]
pub struct ListArgs {
    /// Only the records of this collection; without one, those of all but the space's own, `sys.*`.
    pub collection: Option<String>,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON, a line for each.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn write(
    folder: &MemberFolder,
    args: WriteArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let body = body(&args.body)?;
    let mut replica = folder.replica(&args.which.find(folder)?)?;
    let version = replica.create(&args.collection, body, UnixTime::now());
    tell("Wrote", &explained(version)?, args.json, out)
}

pub(super) fn edit(
    folder: &MemberFolder,
    args: EditArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let body = body(&args.body)?;
    let mut replica = folder.replica(&args.which.find(folder)?)?;
    let key = find_key(&replica, &args.key)?;
    let version = replica.edit(&key, body, UnixTime::now());
    tell("Edited", &explained(version)?, args.json, out)
}

pub(super) fn delete(
    folder: &MemberFolder,
    args: &DeleteArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let mut replica = folder.replica(&args.which.find(folder)?)?;
    let key = find_key(&replica, &args.key)?;
    let version = replica.delete(&key, UnixTime::now());
    tell("Deleted", &explained(version)?, args.json, out)
}

pub(super) fn list(
    folder: &MemberFolder,
    args: &ListArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let replica = folder.replica(&args.which.find(folder)?)?;
    let records = match &args.collection {
        Some(collection) => replica.records(Some(collection)),
        None => app_records(&replica),
    };
    if records.is_empty() && !args.json {
        writeln!(out, "There are no records here.")?;
    }
    for record in records {
        let is_stored = replica.holdings().stored_by(&record.id).next().is_some();
        match args.json {
            true => print_json(out, &as_json(record, is_stored))?,
            false => print_record(out, &record)?,
        }
    }
    Ok(())
}

fn print_record(out: &mut (dyn Write + Send), record: &Record) -> anyhow::Result<()> {
    let body = match &record.body {
        // A canonical form is always UTF-8, with its control characters escaped but for U+007F
        // to U+009F.
        Opened::Body(body) => plain(&String::from_utf8_lossy(&body.canonical())),
        Opened::Unreadable => "(unreadable: sealed under another key)".to_owned(),
        Opened::Absent | Opened::Deleted => "(its content isn't here yet)".to_owned(),
    };
    writeln!(out, "{}  {}", record.key, plain(&record.collection))?;
    writeln!(out, "  {body}")?;
    Ok(())
}

fn as_json(record: Record, is_stored: bool) -> Object {
    let mut object = Object::from([
        ("key", Value::from(record.key)),
        ("collection", Value::from(record.collection)),
        ("id", Value::from(record.id.to_string())),
        ("seq", Value::from(record.seq)),
        ("createdAt", Value::from(record.created_at)),
        ("confirmed", Value::from(is_stored)),
    ]);
    if let Opened::Body(body) = record.body {
        object.insert("body", body);
    }
    object
}

fn tell(
    did: &str,
    version: &Version,
    json: bool,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    if json {
        let written = Object::from([
            ("key", Value::from(version.key())),
            ("id", Value::from(version.id().to_string())),
            ("seq", Value::from(version.seq())),
        ]);
        return print_json(out, &written);
    }
    writeln!(out, "{did} {}", version.key())?;
    writeln!(out, "  version  {}", version.id())?;
    writeln!(
        out,
        "It is on this device. `holdfast member sync` brings it to the hosts."
    )?;
    Ok(())
}

/// A record's key by itself or by how it ends; deleted records too, which can be written anew.
fn find_key(replica: &Replica, given: &str) -> anyhow::Result<String> {
    if replica.holdings().current(given).is_some() {
        return Ok(given.to_owned());
    }
    let mut keys = replica
        .holdings()
        .current_versions()
        .map(|version| version.key())
        .filter(|key| key.ends_with(given));
    match (keys.next(), keys.next()) {
        (Some(key), None) => Ok(key.to_owned()),
        (None, _) => bail!("there is no record whose key is or ends with {given:?}"),
        _ => bail!("several records' keys end with {given:?}: give more of it"),
    }
}

pub(super) fn body(given: &str) -> anyhow::Result<Value> {
    let mut text = given.to_owned();
    if given == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("reading standard input")?;
    }
    read(text.as_bytes(), MESSAGE_DEPTH)
        .with_context(|| "expected the content as JSON, as '{\"text\":\"hello\"}' or '\"hello\"'")
}
