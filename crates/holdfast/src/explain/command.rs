//! The command: what it is told, and what it prints.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use minca_record::content_id::ContentId;

use super::held::{Held, named_by};
use super::source::{Bundle, HostSource, Source};
use crate::config::{Config, ConfigArgs};
use crate::pretty_json::pretty;

/// Which space, and what of it.
#[derive(Clone, Debug, clap::Args)]
pub struct ExplainArgs {
    /// The space's id, at the host whose data folder the settings name. The host may run
    #[arg(long, value_name = "ID", conflicts_with = "constitution")]
    pub space: Option<String>,

    /// File with the space as its members hand it around, its constitution with its id;
    /// its versions are then read from SEGMENTS and not from a host
    #[arg(long, value_name = "FILE")]
    pub constitution: Option<PathBuf>,

    /// Segment files, or folders with segments
    #[arg(value_name = "SEGMENTS", requires = "constitution")]
    pub segments: Vec<PathBuf>,

    /// The version or access change to explain; without it, the space's access history
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// The settings.
    #[command(flatten)]
    pub config: ConfigArgs,
}

/// What a run prints: on standard output, and beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// What was asked for.
    pub told: String,
    /// What whoever asked should know of where it comes from.
    pub note: Option<String>,
}

/// Explains a space, or a version of it.
///
/// # Errors
/// What stands in the way, in words for the operator.
pub async fn run(args: &ExplainArgs, config: &Config) -> Result<Said> {
    let id = args.id.as_deref().map(ContentId::parse).transpose();
    let id = id.context("--id")?;
    let (source, note) = source(args, config).await?;
    let (constitution, access) = source.access().await?;
    let mut held = Held::new(constitution, access);
    let Some(id) = id else {
        let overview = held.overview();
        let told = match args.json {
            true => pretty(&overview.as_json()),
            false => overview.as_text(),
        };
        return Ok(Said { told, note });
    };
    let (mut copies, mut around) = (Vec::new(), Vec::new());
    if !held.holds_access(&id) {
        copies = source.versions(&[id]).await?;
        let mut named: Vec<ContentId> = copies.iter().flat_map(named_by).collect();
        named.sort_unstable();
        named.dedup();
        around = source.versions(&named).await?;
    }
    let Some(told) = held.tell(&id, copies, around) else {
        bail!("no version of this space with that id is here");
    };
    let told = match args.json {
        true => pretty(&told.as_json()),
        false => told.as_text(),
    };
    Ok(Said { told, note })
}

async fn source(args: &ExplainArgs, config: &Config) -> Result<(Source, Option<String>)> {
    match (&args.space, &args.constitution) {
        (_, Some(constitution)) => {
            if args.segments.is_empty() {
                bail!("expected segment files or folders with segments beside --constitution");
            }
            let bundle = Bundle::open(constitution, &args.segments)?;
            let note = match bundle.passed_over() {
                0 => None,
                count => Some(format!(
                    "{count} segments were passed over: their bytes are not those their names \
                     vouch for"
                )),
            };
            Ok((Source::Bundle(Box::new(bundle)), note))
        }
        (Some(space), None) => {
            let space = ContentId::parse(space).context("--space")?;
            let host = HostSource::open(&config.data, space).await;
            let host = host.with_context(|| config.data.display().to_string())?;
            Ok((Source::Host(host), None))
        }
        (None, None) => bail!("expected --space with a space's id, or --constitution with a file"),
    }
}
