//! Defining collections (02 §6).

use std::io::Write;

use anyhow::Context;
use clap::Args;
use minca_record::definition::{DEFINITION_KEY, read_definition};

use super::WhichSpace;
use super::changing::{Changing, Deed};
use super::records::body;
use crate::access;
use crate::folder::MemberFolder;

/// `holdfast member define`
#[derive(Clone, Debug, Args)]
pub struct DefineCollectionArgs {
    /// The definition as JSON, with its `name`, `version` and `schema`, or `-` to read it from
    /// standard input. It replaces what was said of the collection before.
    pub definition: String,
    /// Which space.
    #[command(flatten)]
    pub which: WhichSpace,
    /// Tell it as JSON.
    #[arg(long)]
    pub json: bool,
}

pub(super) fn define(
    folder: &MemberFolder,
    args: &DefineCollectionArgs,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let given = body(&args.definition)?;
    let name = given.as_object().and_then(|it| it.get("name")?.as_str());
    let name = name.unwrap_or_default().to_owned();
    read_definition(&format!("{DEFINITION_KEY}{name}"), &given)
        .context("expected the definition of a collection")?;
    let definition = given.into_object().unwrap_or_default();
    let mut changing = Changing::open(folder, &args.which)?;
    let deed = Deed("Defined", "defining", name);
    changing.make(&deed, access::define_collection(definition), args.json, out)
}
