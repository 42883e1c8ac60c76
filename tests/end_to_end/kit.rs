//! A host in this process, devices of one account, and an ear on everything logged.
//!
//! [`Kit::finish`] fails a test in which a log line or a metric holds any id, DID or
//! body that the test made, or in which anything was logged as a warning or an
//! error: no peer can bring a host to that.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use holdfast::config::{Config, ConfigArgs, Environment, Loaded};
use holdfast::host::{Host, LinkKind};
use holdfast::space_file;
use member::client::{Connection, Options};
use member::clock::UnixTime;
use member::holdings::Holdings;
use member::identity::{Account, Device};
use member::randomness::SystemRandomness;
use member::replica::Replica;
use member::space::Space;
use minca_record::constitution::Visibility;
use minca_record::json::{Object, Value};
use minca_record::url::NodeUrl;
use tempfile::TempDir;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// How long anything may take that takes a moment.
pub const WAIT: Duration = Duration::from_secs(20);

/// What is listened to: everything a host says, at every level. The client's own
/// WebSocket code, which no host runs, says what it sends.
const HEARD: &str = "trace,tungstenite=off,tokio_tungstenite=off";

/// A host, and what its test made.
pub struct Kit {
    folder: TempDir,
    link: LinkKind,
    flags: Vec<String>,
    host: Option<Host>,
    secrets: Vec<String>,
}

impl Kit {
    /// Starts a host in a folder of its own.
    pub async fn start(link: LinkKind) -> Kit {
        Kit::start_with(link, &[]).await
    }

    /// Starts a host with more flags.
    pub async fn start_with(link: LinkKind, flags: &[&str]) -> Kit {
        listen();
        let mut kit = Kit {
            folder: tempfile::tempdir().unwrap(),
            link,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            host: None,
            secrets: Vec::new(),
        };
        kit.restart().await;
        let did = kit.host().did().to_string();
        kit.secrets.push(did);
        kit
    }

    pub fn config(&self) -> Config {
        let mut flags: Vec<&str> = vec!["--data", self.folder.path().to_str().unwrap()];
        flags.extend(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
        flags.extend(self.flags.iter().map(String::as_str));
        config_of(&flags)
    }

    pub fn host(&self) -> &Host {
        self.host.as_ref().unwrap()
    }

    /// Stops the host, if it runs, and starts it on the same folder.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.host = Some(Host::start(&self.config(), self.link).await.unwrap());
    }

    /// Stops the host in order.
    pub async fn stop(&mut self) {
        if let Some(host) = self.host.take() {
            assert!(host.stop().await, "the bucket did not get everything");
        }
    }

    /// The URL devices dial, pinned.
    pub fn url(&self) -> NodeUrl {
        let host = self.host();
        NodeUrl::parse(&format!("ws://{}/peer#{}", host.listening(), host.did())).unwrap()
    }

    /// Has the host hold a space.
    pub async fn carry(&mut self, space: &Space) {
        let json = space.as_handed_around().canonical();
        let space = space_file::read(&json, None).unwrap();
        self.host().worker().carry(&space).await.unwrap();
        self.secrets.push(space.space.to_string());
        self.secrets
            .extend(space.read_key.map(|key| key.to_string()));
    }

    /// A device of an account in a space, whose DID sorts before the host's or after it.
    pub fn device(&mut self, account: &Account, space: &Space, initiates: bool) -> Replica {
        let host = self.host().did().to_string();
        let device = loop {
            let device = account.new_device(&mut SystemRandomness).unwrap();
            if (device.did().to_string() < host) == initiates {
                break device;
            }
        };
        self.secrets.push(device.did().to_string());
        self.secrets.push(account.did().to_string());
        replica(space, device)
    }

    /// Something no log line may hold.
    pub fn secret(&mut self, text: impl Into<String>) {
        self.secrets.push(text.into());
    }

    /// Connects a device to the host.
    pub async fn connect(&self, replica: &mut Replica) -> Connection {
        Connection::open(&self.url(), replica, Options::default())
            .await
            .unwrap()
    }

    /// The host's metrics, as text.
    pub async fn metrics(&self) -> String {
        let address = self.host().metrics_listening();
        let request = b"GET /metrics HTTP/1.1\r\nHost: host\r\nConnection: close\r\n\r\n";
        let answer = member::raw::http(address, request, WAIT).await.unwrap();
        String::from_utf8_lossy(&answer.body).into_owned()
    }

    /// The bucket's folder.
    pub fn bucket(&self) -> std::path::PathBuf {
        self.config().bucket_folder()
    }

    /// Stops the host and looks at everything that was said.
    pub async fn finish(mut self) {
        let metrics = self.metrics().await;
        self.stop().await;
        let logged = String::from_utf8_lossy(&lines().lock().unwrap()).into_owned();
        assert!(logged.lines().count() > 10, "nothing was logged to look at");
        for secret in &self.secrets {
            assert!(secret.len() > 3);
            let line = logged.lines().find(|line| line.contains(secret.as_str()));
            assert_eq!(line, None, "a log line holds what it must not");
            assert!(
                !metrics.contains(secret.as_str()),
                "a metric holds what it must not"
            );
        }
        let loud = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
        let unexpected: Vec<&str> = logged.lines().filter(loud).collect();
        assert_eq!(unexpected, Vec::<&str>::new());
    }
}

/// A host that holds a space, and a device there that is level with it.
pub struct Connected {
    pub kit: Kit,
    pub space: Space,
    pub device: Replica,
    pub connection: Connection,
}

impl Connected {
    pub async fn start(link: LinkKind, visibility: Visibility, initiates: bool) -> Connected {
        let mut kit = Kit::start(link).await;
        let (account, space) = found(visibility);
        kit.carry(&space).await;
        let mut device = kit.device(&account, &space, initiates);
        let mut connection = kit.connect(&mut device).await;
        connection
            .sync_until_level(&mut device, WAIT)
            .await
            .unwrap();
        Connected {
            kit,
            space,
            device,
            connection,
        }
    }

    /// Drives the device until the host ends the connection, and says how.
    pub async fn how_it_ends(&mut self) -> String {
        let driven = self
            .connection
            .drive(&mut self.device, WAIT, |_| false)
            .await;
        driven.unwrap_err().to_string()
    }
}

/// A configuration by flags.
pub fn config_of(flags: &[&str]) -> Config {
    #[derive(clap::Parser)]
    struct Flags {
        #[command(flatten)]
        _config: ConfigArgs,
    }
    let command = <Flags as clap::CommandFactory>::command();
    let matches = command.no_binary_name(true).get_matches_from(flags);
    Loaded::load(&matches, &Environment::default())
        .unwrap()
        .config
}

/// An account and a space it founded.
pub fn found(visibility: Visibility) -> (Account, Space) {
    let account = Account::new(&mut SystemRandomness).unwrap();
    let founder = account.did().to_string();
    let space = Space::found(
        "Test",
        visibility,
        &founder,
        UnixTime::now(),
        &mut SystemRandomness,
    )
    .unwrap();
    (account, space)
}

/// A device in a space, holding nothing yet and keeping it in memory.
pub fn replica(space: &Space, device: Device) -> Replica {
    Replica::new(
        space.clone(),
        device,
        Holdings::in_memory(),
        Box::new(SystemRandomness),
    )
}

/// A body of one text.
pub fn body(text: &str) -> Value {
    Object::from([("text", text)]).into()
}

/// The texts of a device's records, sorted; those of deleted ones left out.
pub fn texts(replica: &Replica) -> Vec<String> {
    let mut texts: Vec<String> = replica
        .records(None)
        .into_iter()
        .filter_map(|record| match record.body {
            member::space::Opened::Body(body) => {
                Some(body.as_object()?.get("text")?.as_str()?.to_owned())
            }
            _ => None,
        })
        .collect();
    texts.sort();
    texts
}

pub fn now() -> UnixTime {
    UnixTime::now()
}

fn lines() -> &'static Arc<Mutex<Vec<u8>>> {
    static LINES: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();
    LINES.get_or_init(Arc::default)
}

/// Hears all that is logged in this process. Each test runs in one of its own.
fn listen() {
    let heard = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(HEARD))
        .with_ansi(false)
        .with_writer(Ear)
        .finish();
    // A second host of the same test is heard already.
    let _ = tracing::subscriber::set_global_default(heard);
}

struct Ear;

impl<'a> MakeWriter<'a> for Ear {
    type Writer = Ear;

    fn make_writer(&'a self) -> Ear {
        Ear
    }
}

impl Write for Ear {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        lines().lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
