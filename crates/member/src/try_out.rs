//! `holdfast try`: two devices and a host, told step by step to whoever sees it for the first
//! time. Starting the host, and giving it the space, is the caller's.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::url::NodeUrl;

use crate::client::{Connection, Options};
use crate::clock::UnixTime;
use crate::holdings::Holdings;
use crate::identity::Account;
use crate::randomness::SystemRandomness;
use crate::replica::Replica;
use crate::space::{Opened, Space, Visibility};

const COLLECTION: &str = "app.note";

/// How it is tried.
#[derive(Clone, Debug)]
pub struct TryOptions {
    /// Records the first device writes, at least 2.
    pub records: usize,
    /// How long each step may take.
    pub step: Duration,
    /// How long the bucket may take to have anything.
    pub bucket: Duration,
}

impl Default for TryOptions {
    fn default() -> TryOptions {
        TryOptions {
            records: 200,
            step: Duration::from_secs(8),
            bucket: Duration::from_secs(5),
        }
    }
}

/// An object in the bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketObject {
    /// Its key.
    pub key: String,
    /// Its size.
    pub bytes: u64,
}

/// What just happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A private space was founded, on the first device alone.
    Founded {
        /// The space.
        space: ContentId,
        /// The account that founded it.
        account: Did,
    },
    /// The host was given the space, without its key.
    Carried,
    /// A device is connected, and the host proved that it is the node of the URL.
    Connected {
        /// Which device, 1 or 2.
        device: u8,
        /// The node.
        node: Did,
    },
    /// The first device wrote so many of its records.
    Wrote {
        /// How many.
        written: usize,
        /// Of how many the host said that they are stored.
        stored: usize,
        /// How many there will be.
        of: usize,
    },
    /// The first device is gone, and with it everything it held.
    FirstDeviceGone,
    /// The second device has what the first wrote, and reads it.
    SecondDeviceRead {
        /// How many records.
        records: usize,
    },
    /// The second device changed a record and deleted another, and both are stored.
    ChangedAndDeleted {
        /// How many records there are now.
        records: usize,
    },
    /// What the bucket holds.
    Bucket(Vec<BucketObject>),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The space.
    pub space: ContentId,
    /// The host.
    pub node: Did,
    /// Records at the end.
    pub records: usize,
    /// Versions at the end.
    pub versions: usize,
    /// What the bucket held when it was looked at. Empty where nothing came there in time.
    pub bucket: Vec<BucketObject>,
    /// How long it all took.
    pub took: Duration,
}

/// Tries a host out. `carry` gives it the space, as JSON without the space's key; `bucket` lists
/// what its bucket holds of the space; `progress` is told what happens.
///
/// # Errors
/// What went wrong, at which step.
pub async fn try_out(
    url: &NodeUrl,
    options: TryOptions,
    carry: impl AsyncFnOnce(String) -> anyhow::Result<()>,
    bucket: impl AsyncFn() -> anyhow::Result<Vec<BucketObject>>,
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> anyhow::Result<Report> {
    ensure!(options.records >= 2, "expected at least 2 records to write");
    let began = Instant::now();
    let mut randomness = SystemRandomness;
    let account = Account::new(&mut randomness)?;
    let founder = account.did().to_string();
    let now = UnixTime::now();
    let space = Space::found(
        "Trying it out",
        Visibility::Private,
        &founder,
        now,
        &mut randomness,
    )?;
    progress(&Progress::Founded {
        space: space.id(),
        account: account.did(),
    });

    let handed_around = space.as_handed_around().canonical();
    // A canonical form is always UTF-8.
    carry(String::from_utf8_lossy(&handed_around).into_owned())
        .await
        .context("giving the host the space")?;
    progress(&Progress::Carried);

    let first = new_device(&space, &account)?;
    let written = first_device(url, &options, first, progress)
        .await
        .context("the first device")?;
    progress(&Progress::FirstDeviceGone);

    let mut second = new_device(&space, &account)?;
    let node = second_device(url, &options, &mut second, &written, progress)
        .await
        .context("the second device")?;

    let bucket = wait_for_bucket(options.bucket, bucket)
        .await
        .context("listing the bucket")?;
    progress(&Progress::Bucket(bucket.clone()));
    Ok(Report {
        space: space.id(),
        node,
        records: second.records(None).len(),
        versions: second.holdings().len(),
        bucket,
        took: began.elapsed(),
    })
}

fn new_device(space: &Space, account: &Account) -> anyhow::Result<Replica> {
    let device = account.new_device(&mut SystemRandomness)?;
    let randomness = Box::new(SystemRandomness);
    Ok(Replica::new(
        space.clone(),
        device,
        Holdings::in_memory(),
        randomness,
    ))
}

/// Writes the records, each pushed as it is written, and waits until all are stored. Gives back
/// their keys.
async fn first_device(
    url: &NodeUrl,
    options: &TryOptions,
    mut replica: Replica,
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> anyhow::Result<Vec<String>> {
    let mut connection = Connection::open(url, &mut replica, Options::default()).await?;
    let node = connection.node();
    progress(&Progress::Connected { device: 1, node });
    connection
        .sync_until_level(&mut replica, options.step)
        .await?;
    let of = options.records;
    let mut keys = Vec::with_capacity(of);
    for number in 1..=of {
        let body = note(format!("note number {number}"));
        let version = replica.create(COLLECTION, body, UnixTime::now())?;
        keys.push(version.key().to_owned());
        connection.push(&mut replica, &version).await?;
        if number % 10 == 0 {
            let stored = number - replica.sync().unacknowledged(&node).len();
            progress(&Progress::Wrote {
                written: number,
                stored,
                of,
            });
        }
    }
    let mut told = 0;
    let all_stored = |replica: &Replica| {
        let stored = of - replica.sync().unacknowledged(&node).len();
        if stored > told {
            told = stored;
            progress(&Progress::Wrote {
                written: of,
                stored,
                of,
            });
        }
        stored == of
    };
    connection
        .drive(&mut replica, options.step, all_stored)
        .await
        .context("waiting for the host to store what was written")?;
    connection.drop_silently(&mut replica);
    Ok(keys)
}

/// Gets what the first device wrote, changes one record and deletes another.
async fn second_device(
    url: &NodeUrl,
    options: &TryOptions,
    replica: &mut Replica,
    written: &[String],
    progress: &mut (dyn FnMut(&Progress) + Send),
) -> anyhow::Result<Did> {
    let mut connection = Connection::open(url, replica, Options::default()).await?;
    let node = connection.node();
    progress(&Progress::Connected { device: 2, node });
    connection.sync_until_level(replica, options.step).await?;
    let records = replica.records(Some(COLLECTION));
    let read: HashSet<&str> = records
        .iter()
        .filter(|record| matches!(record.body, Opened::Body(_)))
        .map(|record| record.key.as_str())
        .collect();
    ensure!(
        read.len() == written.len() && written.iter().all(|key| read.contains(key.as_str())),
        "expected to read all {} records, read {}",
        written.len(),
        read.len()
    );
    progress(&Progress::SecondDeviceRead {
        records: read.len(),
    });

    let [changed, deleted, ..] = written else {
        anyhow::bail!("expected at least 2 records");
    };
    let edit = replica.edit(
        changed,
        note("changed by the second device"),
        UnixTime::now(),
    )?;
    connection.push(replica, &edit).await?;
    let delete = replica.delete(deleted, UnixTime::now())?;
    connection.push(replica, &delete).await?;
    connection
        .sync_until_level(replica, options.step)
        .await
        .context("waiting for the host to store a change and a delete")?;
    connection.close(replica).await;
    progress(&Progress::ChangedAndDeleted {
        records: replica.records(None).len(),
    });
    Ok(node)
}

fn note(text: impl Into<String>) -> Value {
    Object::from([("text", Value::from(text.into()))]).into()
}

/// What the bucket holds, as soon as it holds anything; nothing where that takes too long.
async fn wait_for_bucket(
    wait: Duration,
    list: impl AsyncFn() -> anyhow::Result<Vec<BucketObject>>,
) -> anyhow::Result<Vec<BucketObject>> {
    let deadline = tokio::time::Instant::now() + wait;
    loop {
        let objects = list().await?;
        if !objects.is_empty() || tokio::time::Instant::now() >= deadline {
            return Ok(objects);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
