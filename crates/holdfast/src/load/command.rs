//! The command `holdfast load`.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, value_parser};
use hyper::Method;
use member::client::pushing;
use member::client::{Caller, DialError};
use member::clock::UnixTime;
use member::commands::node_url;
use member::identity::Account;
use member::randomness::{SystemRandomness, random_bytes};
use member::space::Space;
use minca_record::constitution::Visibility;
use minca_record::url::NodeUrl;
use minca_sync::close::Close;
use minca_sync::handshake::Nonce;

use super::pacing::Pace;
use super::running::{Ready, Times, run as run_all};
use super::signing::{Kind, Part, PartPlan};
use super::told::{Line, as_json, as_text};
use crate::admin::{CarriedView, CarryRequest};
use crate::admin_client::AdminClient;

/// Bytes that all messages signed beforehand may take up.
const MOST_SIGNED_BYTES: u64 = 4 << 30;

/// How often a host is asked whether it holds the space by now.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What `load` takes.
#[derive(Args, Debug)]
pub struct LoadArgs {
    /// The host: its node URL, with its DID behind a `#`, as `holdfast serve` prints it
    #[arg(long, value_name = "NODE")]
    url: String,
    /// The running host's data folder, by whose token it is told to hold the space. Without it
    /// the space is printed for its operator, and waited for
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Where the host of that folder takes its operator's calls
    #[arg(long, value_name = "ADDRESS", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 4441)), requires = "data")]
    metrics_listen: SocketAddr,
    /// Make a private space, whose bodies are sealed
    #[arg(long)]
    private: bool,
    /// Versions a second pushed one by one, as they are written (`push-update`)
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = value_parser!(u32).range(..=100_000))]
    rate: u32,
    /// Versions a second pushed in batches (`versions`)
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = value_parser!(u32).range(..=100_000))]
    bulk_rate: u32,
    /// Versions in a batch
    #[arg(long, value_name = "COUNT", default_value_t = 200, value_parser = value_parser!(u32).range(1..=200))]
    batch: u32,
    /// Sockets for each of the two, every one a device of its own. A host reads 200 messages a
    /// second of one socket in the long run
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = value_parser!(u32).range(1..=500))]
    connections: u32,
    /// Seconds to push for
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = value_parser!(u32).range(1..=2700))]
    seconds: u32,
    /// Seconds to wait for answers after that
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = value_parser!(u32).range(..=600))]
    grace: u32,
    /// Bytes of text in a version's body. The version around it has some 1,100 more
    #[arg(long, value_name = "BYTES", default_value_t = 800, value_parser = value_parser!(u32).range(1..=1_000_000))]
    bytes: u32,
    /// Print one JSON object a line: for each second, and at the end
    #[arg(long)]
    json: bool,
}

impl LoadArgs {
    fn pace(&self, kind: Kind) -> Pace {
        let (rate, each) = match kind {
            Kind::Live => (self.rate, 1),
            Kind::Bulk => (self.bulk_rate, self.batch),
        };
        Pace {
            rate,
            each,
            seconds: self.seconds,
        }
    }
}

/// Loads a host. The figures go to `out`, what else there is to say to `notes`; it ends early
/// when `interrupted` does. Whether everything was acknowledged comes back.
///
/// # Errors
/// What stands in the way of a run, in words for the operator.
pub async fn run(
    args: LoadArgs,
    interrupted: impl Future<Output = ()>,
    out: &mut (dyn Write + Send),
    notes: &mut (dyn Write + Send),
) -> Result<bool> {
    let url = node_url(&args.url)?;
    ensure!(
        args.rate > 0 || args.bulk_rate > 0,
        "expected a rate over 0"
    );
    tokio::pin!(interrupted);
    let prepared = tokio::select! {
        prepared = prepare(&args, &url, notes) => prepared?,
        () = &mut interrupted => bail!("interrupted before anything was sent"),
    };
    let planned = [Kind::Live, Kind::Bulk].map(|kind| args.pace(kind).versions());
    let times = Times {
        seconds: Duration::from_secs(args.seconds.into()),
        grace: Duration::from_secs(args.grace.into()),
    };
    let mut tell = |line: &Line| -> Result<()> {
        let text = match args.json {
            true => as_json(line)?,
            false => as_text(line),
        };
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .context("nothing can be printed")
    };
    let planned = (planned[0], planned[1]);
    let total = run_all(prepared, planned, times, interrupted, |line| tell(&line)).await?;
    let is_good = total.is_good();
    tell(&Line::Total(total))?;
    Ok(is_good)
}

/// Makes the space, has it held, signs everything and opens the sockets.
async fn prepare(
    args: &LoadArgs,
    url: &NodeUrl,
    notes: &mut (dyn Write + Send),
) -> Result<Vec<Ready>> {
    let account = Account::new(&mut SystemRandomness)?;
    let visibility = match args.private {
        true => Visibility::Private,
        false => Visibility::Public,
    };
    let founder = account.did().to_string();
    let now = UnixTime::now();
    let space = Space::found("Load", visibility, &founder, now, &mut SystemRandomness)?;
    have_it_held(args, &space, notes).await?;
    let parts = sign(args, &account, &space).await?;
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    let versions: u64 = parts
        .iter()
        .flat_map(|part| &part.messages)
        .map(|signed| signed.ids.len() as u64)
        .sum();
    writeln!(
        notes,
        "Signed {versions} versions beforehand: {bytes} bytes in memory"
    )?;
    let mut ready = Vec::new();
    for part in parts {
        ready.push(open(args, url, &space, part).await?);
    }
    Ok(ready)
}

async fn have_it_held(
    args: &LoadArgs,
    space: &Space,
    notes: &mut (dyn Write + Send),
) -> Result<()> {
    let text = String::from_utf8_lossy(&space.as_handed_around().canonical()).into_owned();
    let Some(data) = &args.data else {
        writeln!(
            notes,
            "Waiting until the host holds this space. Put it into a file for `holdfast carry add`:\n{text}"
        )?;
        return Ok(());
    };
    let request = CarryRequest {
        space: text,
        read_key: None,
    };
    let body = serde_json::to_vec(&request)?;
    AdminClient::new(args.metrics_listen, data)
        .call::<CarriedView>(Method::POST, "/admin/carried", body)
        .await
        .context("the host can't be told to hold the space")?;
    writeln!(
        notes,
        "The host holds the space {id}. It stays held: `holdfast carry remove {id}` lets it go",
        id = space.id()
    )?;
    Ok(())
}

/// Signs each socket's part on a thread of its own.
async fn sign(args: &LoadArgs, account: &Account, space: &Space) -> Result<Vec<Part>> {
    let kinds = [Kind::Live, Kind::Bulk];
    let used = kinds.map(|kind| args.pace(kind)).into_iter().zip(kinds);
    let used: Vec<(Pace, Kind)> = used.filter(|(pace, _)| pace.versions() > 0).collect();
    let sockets = args.connections;
    let most_bytes = MOST_SIGNED_BYTES / (used.len().max(1) as u64 * u64::from(sockets));
    let mut signing = Vec::new();
    for (pace, kind) in used {
        for socket in 0..sockets {
            let plan = PartPlan {
                space: space.clone(),
                kind,
                device: account.new_device(&mut SystemRandomness)?,
                pace,
                socket: (socket, sockets),
                text_bytes: usize::try_from(args.bytes)?,
                most_bytes,
            };
            signing.push(tokio::task::spawn_blocking(move || {
                plan.sign(UnixTime::now(), &mut SystemRandomness)
            }));
        }
    }
    let mut parts = Vec::new();
    for signed in signing {
        let part = signed.await??;
        // A socket of which nothing is asked would have nothing to wait for.
        if !part.messages.is_empty() {
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Opens a part's socket; where the host was not told to hold the space, as soon as it does.
async fn open(args: &LoadArgs, url: &NodeUrl, space: &Space, mut part: Part) -> Result<Ready> {
    let note = part.device.note(UnixTime::now(), &mut SystemRandomness)?;
    let id = space.id().to_string();
    loop {
        let caller = Caller {
            space: &id,
            session: part.device.key(),
            read_keys: space.read_keys().collect(),
            nonce: Nonce(random_bytes(&mut SystemRandomness)?),
            extra_roots: Vec::new(),
        };
        match pushing::open(url, &caller, note.as_ref()).await {
            Ok((pusher, answers)) => {
                return Ok(Ready {
                    pusher,
                    answers,
                    part,
                });
            }
            Err(DialError::Closed { code, .. })
                if args.data.is_none() && code == Some(Close::NotAReader.code()) =>
            {
                tokio::time::sleep(ASK_AGAIN).await;
            }
            Err(error) => return Err(error).context("a socket can't be opened"),
        }
    }
}
