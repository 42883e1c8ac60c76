//! `holdfast carry`: which spaces the host holds by its operator's word.
//!
//! Asked of the running host; where none runs, of its database.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper::Method;
use minca_record::content_id::ContentId;
use store::{Holder, Lease, TakeLease};

use crate::admin::{CarriedView, CarryRequest};
use crate::admin_client::{AdminClient, CallError};
use crate::config::Config;
use crate::database::Database;
use crate::host::{open_bucket, open_key};
use crate::space_file;

/// Spaces asked for at once.
const PAGE: usize = 500;

/// Holds a space from now on.
///
/// # Errors
/// What stands in the way, in words for the operator.
pub async fn add(config: &Config, file: &Path, read_key: Option<&str>) -> Result<CarriedView> {
    let (space, text) =
        space_file::read_file(file, read_key).with_context(|| format!("{}", file.display()))?;
    let request = CarryRequest {
        space: text,
        read_key: read_key.map(str::to_owned),
    };
    let body = serde_json::to_vec(&request)?;
    match client(config)
        .call::<CarriedView>(Method::POST, "/admin/carried", body)
        .await
    {
        Ok(carried) => Ok(carried),
        Err(CallError::NoHost(_)) => {
            let (database, lease) = open(config, &space.space).await?;
            let carried = database.store().carry(&lease, &space).await?;
            close(database, lease).await?;
            Ok(CarriedView::from(&carried))
        }
        Err(error) => Err(error.into()),
    }
}

/// The spaces held.
///
/// # Errors
/// What stands in the way, in words for the operator.
pub async fn list(config: &Config) -> Result<Vec<CarriedView>> {
    let mut carried: Vec<CarriedView> = Vec::new();
    loop {
        let path = match carried.last() {
            Some(last) => format!("/admin/carried?after={}", last.space),
            None => "/admin/carried".to_owned(),
        };
        match client(config)
            .call::<Vec<CarriedView>>(Method::GET, &path, Vec::new())
            .await
        {
            Ok(page) if page.is_empty() => return Ok(carried),
            Ok(page) => carried.extend(page),
            Err(CallError::NoHost(_)) => return list_stored(config).await,
            Err(error) => return Err(error.into()),
        }
    }
}

async fn list_stored(config: &Config) -> Result<Vec<CarriedView>> {
    // Opening a store makes it, and who only asks makes no data folder.
    if !config.data.try_exists()? {
        bail!(
            "no host answers on {}, and there is no data folder {}",
            config.metrics_listen,
            config.data.display()
        );
    }
    let database = open_database(config).await?;
    let mut carried = Vec::new();
    let mut after = None;
    loop {
        let page = database.store().carried(after, PAGE).await?;
        after = page.last().map(|space| space.space);
        carried.extend(page.iter().map(CarriedView::from));
        if page.len() < PAGE {
            database.close().await;
            return Ok(carried);
        }
    }
}

/// Holds a space no longer. What is stored of it stays.
///
/// # Errors
/// What stands in the way, in words for the operator.
pub async fn remove(config: &Config, space: &str) -> Result<()> {
    let id = ContentId::parse(space).context("the space's id")?;
    match client(config)
        .send(Method::DELETE, &format!("/admin/carried/{id}"), Vec::new())
        .await
    {
        Ok(_) => Ok(()),
        Err(CallError::NoHost(_)) => {
            let (database, lease) = open(config, &id).await?;
            let was_held = database.store().stop_carrying(&lease, &id).await?;
            // The running host would do this; the next start keeps what it doesn't know.
            open_bucket(config).await?.delete_carried(&id).await?;
            close(database, lease).await?;
            if !was_held {
                bail!("the space is not held here");
            }
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn client(config: &Config) -> AdminClient {
    AdminClient::new(config.metrics_listen, &config.data)
}

async fn open_database(config: &Config) -> Result<Database> {
    Database::open(config).await.with_context(|| {
        format!(
            "no host answers on {}, and its database can't be used",
            config.metrics_listen
        )
    })
}

/// Opens the database, and takes the lease that the space is written under.
async fn open(config: &Config, space: &ContentId) -> Result<(Database, Lease)> {
    let database = open_database(config).await?;
    let shard = database.store().shard_of(space);
    // A host is a host from the first space it holds, so its key is made before that.
    open_key(config, &**database.store(), &open_bucket(config).await?).await?;
    let mut holder = [0; 16];
    getrandom::fill(&mut holder)?;
    let lasts = Duration::from_secs(config.lease_seconds.into());
    // One that was killed left its lease behind, which runs out; one that runs renews it.
    for _ in 0..2 {
        let taken = database
            .store()
            .take_lease(shard, Holder(holder), lasts)
            .await?;
        match taken {
            TakeLease::Taken(lease) => return Ok((database, lease)),
            TakeLease::HeldByOther { runs_out_in } => tokio::time::sleep(runs_out_in).await,
        }
    }
    bail!(
        "no host answers on {}, and another process holds the lease of the space's shard",
        config.metrics_listen
    )
}

async fn close(database: Database, lease: Lease) -> Result<()> {
    database.store().release_lease(&lease).await?;
    database.close().await;
    Ok(())
}
