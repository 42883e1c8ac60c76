//! The binary: its commands.

mod try_out;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use holdfast::admin::CarriedView;
use holdfast::config::{ConfigArgs, Environment, Loaded};
use holdfast::host::{Host, LinkKind};
use holdfast::{carry, database, explain, host_key, load, replay, telemetry};
use tokio::signal::unix::{SignalKind, signal};

/// A hosting server for Minca: a blind keeper that is always online.
#[derive(Parser)]
#[command(name = "holdfast", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the host until it is told to stop (SIGTERM, or Ctrl-C)
    Serve(ConfigArgs),
    /// Which spaces the host holds
    Carry(CarryArgs),
    /// The configuration
    Config(ConfigCommandArgs),
    /// Print the host's DID, which devices pin
    Key(ConfigArgs),
    /// Bring the schema of the Postgres database that `store.url` names up to date
    Migrate(MigrateArgs),
    /// Play a member's device: found a space, write, sync with a host
    Member(member::commands::MemberArgs),
    /// Say why a version or an access change of a space counts, or doesn't
    Explain(explain::ExplainArgs),
    /// Replay an access history written down as a case, and print what it comes to
    Replay(replay::ReplayArgs),
    /// See it work: two devices meet through a host
    Try(try_out::TryArgs),
    /// Push versions to a running host at a steady rate, and see how it keeps up
    Load(load::LoadArgs),
}

#[derive(Args)]
struct MigrateArgs {
    /// Shards to divide an empty database into, for good: 1 to 1024 [default: 64]
    #[arg(
        long,
        value_name = "SHARDS",
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    shards: Option<u32>,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Args)]
struct CarryArgs {
    #[command(subcommand)]
    command: CarryCommand,
}

#[derive(Subcommand)]
enum CarryCommand {
    /// Hold a space from now on
    Add {
        /// File with the space: its constitution with its id, as JSON
        file: PathBuf,
        /// Read key to let readers in on, where it is a later one than the constitution's
        #[arg(long, value_name = "DID")]
        read_key: Option<String>,
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// List the spaces held
    List(ConfigArgs),
    /// Hold a space no longer; what is stored of it stays
    Remove {
        /// The space's id
        space: String,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

#[derive(Args)]
struct ConfigCommandArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Print what is in force, and where each value comes from
    Check(ConfigArgs),
}

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    match run(&matches) {
        Ok(code) => code,
        Err(error) => {
            // The last word of a command that failed; there is nowhere to say that this failed.
            let _ = writeln!(
                std::io::stderr(),
                "holdfast: {}",
                member::commands::told(&error)
            );
            ExitCode::FAILURE
        }
    }
}

fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let cli = Cli::from_arg_matches(matches)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let innermost = innermost(matches);
    match cli.command {
        Command::Serve(_) => runtime.block_on(serve(&settings(innermost)?)),
        Command::Carry(carry) => runtime.block_on(carry_command(carry.command, innermost)),
        Command::Config(ConfigCommandArgs {
            command: ConfigCommand::Check(_),
        }) => {
            say(&settings(innermost)?.describe())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Key(_) => {
            let did = host_key::did_in(&settings(innermost)?.config.host_key_file())?;
            say(&format!("{did}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Migrate(args) => runtime.block_on(migrate(&settings(innermost)?, args.shards)),
        Command::Member(args) => {
            runtime.block_on(member::commands::run(args, &mut std::io::stdout()))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Explain(args) => {
            let config = settings(innermost)?.config;
            let said = runtime.block_on(explain::run(&args, &config))?;
            if let Some(note) = said.note {
                // Beside what was asked for, which may be read by a program.
                let _ = writeln!(std::io::stderr(), "holdfast: {note}");
            }
            say(&said.told)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Replay(args) => {
            say(&replay::run(&args)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Try(args) => runtime.block_on(try_out::run(args, &settings(innermost)?)),
        Command::Load(args) => runtime.block_on(load_command(args)),
    }
}

/// The matches of the command that was asked for, which hold the settings' flags.
fn innermost(mut matches: &ArgMatches) -> &ArgMatches {
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches
}

fn settings(matches: &ArgMatches) -> Result<Loaded> {
    Ok(Loaded::load(matches, &Environment::of_process())?)
}

/// Runs the host until a signal, then stops it in order.
async fn serve(loaded: &Loaded) -> Result<ExitCode> {
    telemetry::init(&loaded.config.log)?;
    for variable in &loaded.unknown_variables {
        tracing::warn!(
            variable,
            "a variable begins with HOLDFAST_ and is no setting"
        );
    }
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let host = Host::start(&loaded.config, LinkKind::Channel).await?;
    say(&format!(
        "{}Serving on ws://{}/peer#{}\nMetrics on http://{}/metrics\n",
        if host.is_new() {
            "A new host: its key was made just now. Keep a copy of the host key file.\n"
        } else {
            ""
        },
        host.listening(),
        host.did(),
        host.metrics_listening(),
    ))?;
    let mut watch = tokio::time::interval(std::time::Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = watch.tick() => if let Some(why) = host.broken() {
                tracing::error!(why, "the host can't go on");
                break;
            },
        }
    }
    tracing::info!("stopping");
    let is_broken = host.broken().is_some();
    if !host.stop().await {
        tracing::error!("stopped with versions that are in the database and not yet in the bucket");
        return Ok(ExitCode::FAILURE);
    }
    tracing::info!("stopped; the bucket has everything");
    Ok(if is_broken {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Migrates, and says from where to where.
async fn migrate(loaded: &Loaded, shards: Option<u32>) -> Result<ExitCode> {
    let migrated = database::bring_up_to_date(&loaded.config, shards).await?;
    say(&format!(
        "The schema is at version {} (before: {}).\nShards: {}.\n",
        migrated.to, migrated.from, migrated.shards
    ))?;
    Ok(ExitCode::SUCCESS)
}

async fn carry_command(command: CarryCommand, matches: &ArgMatches) -> Result<ExitCode> {
    let config = settings(matches)?.config;
    match command {
        CarryCommand::Add { file, read_key, .. } => {
            let carried = carry::add(&config, &file, read_key.as_deref()).await?;
            say(&format!("Holding {}\n", line_of(&carried)))?;
        }
        CarryCommand::List(_) => {
            let held = carry::list(&config).await?;
            if held.is_empty() {
                // Not on standard output: there is nothing in the list.
                let _ = writeln!(
                    std::io::stderr(),
                    "No space is held. `holdfast carry add` has the host hold one."
                );
            }
            for carried in held {
                say(&format!("{}\n", line_of(&carried)))?;
            }
        }
        CarryCommand::Remove { space, .. } => {
            carry::remove(&config, &space).await?;
            say("No longer held. What is stored of it stays.\n")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Loads a host until the run is over, or until Ctrl-C.
async fn load_command(args: load::LoadArgs) -> Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let interrupted = async move {
        interrupt.recv().await;
    };
    let (mut out, mut notes) = (std::io::stdout(), std::io::stderr());
    let is_good = load::run(args, interrupted, &mut out, &mut notes).await?;
    Ok(match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn line_of(carried: &CarriedView) -> String {
    format!(
        "{}  {}  {} versions  {} bytes",
        carried.space, carried.visibility, carried.versions, carried.bytes
    )
}

/// Prints what a command was asked for.
fn say(text: &str) -> Result<()> {
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("nothing can be printed")
}
