//! `holdfast try`: two devices meet through a host, told step by step.
//!
//! Through the host that runs with this configuration, or, where none does, one of
//! its own in a temporary folder.

use std::cell::RefCell;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::{Args, Parser};
use holdfast::admin::{CarriedView, CarryRequest};
use holdfast::admin_client::{AdminClient, CallError};
use holdfast::config::{Config, ConfigArgs, Environment, Loaded};
use holdfast::host::{Host, LinkKind};
use holdfast::host_key;
use hyper::Method;
use member::try_out::{BucketObject, TryOptions, try_out};
use member::try_out_told::Teller;
use minca_record::url::NodeUrl;

/// How long a step may take, beside 10 ms for each record: a device sends them one
/// by one, and a host takes 200 messages a second of one socket in the long run.
const STEP: Duration = Duration::from_secs(8);

/// What `try` takes.
#[derive(Args)]
pub(crate) struct TryArgs {
    /// Records the first device writes
    #[arg(long, value_name = "COUNT", default_value_t = 200)]
    records: u16,
    /// Where the running host is to be found
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

/// Tries it out and tells how it went.
pub(crate) async fn run(args: TryArgs, loaded: &Loaded) -> Result<ExitCode> {
    match AdminClient::new(loaded.config.metrics_listen, &loaded.config.data)
        .call::<Vec<CarriedView>>(Method::GET, "/admin/carried", Vec::new())
        .await
    {
        Ok(_) => {
            tell(&format!(
                "Through the host that runs on {}.\n",
                loaded.config.listen
            ))?;
            with_host(&loaded.config, loaded.config.listen, args.records).await
        }
        Err(CallError::NoHost(_)) => {
            tell(
                "No host runs with this configuration, so one is started in a temporary folder.\n",
            )?;
            with_own_host(args.records).await
        }
        Err(error) => Err(error).context("a host answers, and can't be asked"),
    }
}

async fn with_own_host(records: u16) -> Result<ExitCode> {
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let mut config = config_in(folder.path())?;
    let host = Host::start(&config, LinkKind::Channel).await?;
    config.metrics_listen = host.metrics_listening();
    let outcome = with_host(&config, host.listening(), records).await;
    host.stop().await;
    outcome
}

/// The configuration of a host in a folder of its own, on ports of its own.
fn config_in(folder: &Path) -> Result<Config> {
    #[derive(Parser)]
    struct Own {
        #[command(flatten)]
        _config: ConfigArgs,
    }
    let data = folder
        .to_str()
        .ok_or_else(|| anyhow!("the temporary folder's name is no text"))?;
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).to_string();
    let flags = [
        "try",
        "--data",
        data,
        "--listen",
        &any_port,
        "--metrics-listen",
        &any_port,
    ];
    let matches = <Own as clap::CommandFactory>::command().try_get_matches_from(flags)?;
    Ok(Loaded::load(&matches, &Environment::default())?.config)
}

async fn with_host(config: &Config, listening: SocketAddr, records: u16) -> Result<ExitCode> {
    let did = host_key::did_in(&config.host_key_file())?;
    let url = NodeUrl::parse(&format!("ws://{listening}/peer#{did}"))
        .with_context(|| format!("a device on this machine can't dial {listening}"))?;
    let client = || AdminClient::new(config.metrics_listen, &config.data);
    let space = RefCell::new(None);
    let mut out = std::io::stdout();
    let mut teller = Teller::new(&mut out);
    let mut failed = Ok(());
    let held = &space;
    let carry = async |space: String| {
        let request = serde_json::to_vec(&CarryRequest {
            space,
            read_key: None,
        })?;
        let carried: CarriedView = client()
            .call(Method::POST, "/admin/carried", request)
            .await?;
        *held.borrow_mut() = Some(carried.space);
        Ok(())
    };
    let bucket_folder = config.bucket_folder();
    let bucket = async || {
        client()
            .send(Method::POST, "/admin/flush", Vec::new())
            .await?;
        let folder = bucket_folder.join(held.borrow().as_deref().unwrap_or_default());
        tokio::task::spawn_blocking(move || segments_in(&folder)).await?
    };
    let options = TryOptions {
        records: records.into(),
        step: STEP + Duration::from_millis(u64::from(records) * 10),
        ..TryOptions::default()
    };
    let report = try_out(&url, options, carry, bucket, &mut |progress| {
        if failed.is_ok() {
            failed = teller.tell(progress);
        }
    })
    .await;
    if let Some(space) = space.into_inner() {
        // The space was made to be tried; nobody will ask for it again.
        client()
            .send(
                Method::DELETE,
                &format!("/admin/carried/{space}"),
                Vec::new(),
            )
            .await?;
    }
    let report = report?;
    failed?;
    teller.tell_end(&report)?;
    Ok(ExitCode::SUCCESS)
}

/// The segments in a bucket's folder, by their keys.
fn segments_in(folder: &Path) -> Result<Vec<BucketObject>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "seg") {
                let key = path
                    .strip_prefix(folder)
                    .unwrap_or(&path)
                    .display()
                    .to_string();
                found.push(BucketObject {
                    key,
                    bytes: entry.metadata()?.len(),
                });
            }
        }
    }
    found.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(found)
}

fn tell(text: &str) -> Result<()> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
