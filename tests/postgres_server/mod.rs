//! A Postgres server for one test: in a folder of its own, reached by a socket in it,
//! gone when the test is, however it ends.
#![allow(dead_code, reason = "each program of tests uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Names the folder of other programs than those found.
const PROGRAMS: &str = "HOLDFAST_TEST_POSTGRES";
/// Where Debian puts them, a folder for each version.
const DEBIANS: &str = "/usr/lib/postgresql";
/// Postgres refuses to be root. This is who it is instead.
const USER: &str = "postgres";
/// The superuser within the server.
const LOGIN: &str = "holdfast";
/// What the names of the servers' folders begin with.
const FOLDERS: &str = "holdfast-postgres-";
const LOCK: &str = "lock";
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A running server, durable as in use: `fsync` and `synchronous_commit` are on.
pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    /// Locked for as long as the folder is in use.
    lock: File,
    settings: Vec<String>,
    running: Option<Child>,
}

impl Server {
    /// Starts one with an empty database.
    pub(crate) fn start() -> Server {
        Server::with(&[])
    }

    /// As [`Server::start`], with settings such as `max_connections=10`.
    pub(crate) fn with(settings: &[&str]) -> Server {
        let programs = programs();
        let template = template(&programs);
        sweep();
        let folder = TempDir::with_prefix(FOLDERS).unwrap();
        let lock = File::create(folder.path().join(LOCK)).unwrap();
        lock.lock().unwrap();
        hand_over(folder.path());
        run(Command::new("cp")
            .arg("-a")
            .arg(template)
            .arg(data_in(folder.path())));
        let mut server = Server {
            programs,
            folder,
            lock,
            settings: settings.iter().map(|one| (*one).to_owned()).collect(),
            running: None,
        };
        server.start_again();
        server
    }

    /// Starts it after it was stopped.
    pub(crate) fn start_again(&mut self) {
        assert!(self.running.is_none(), "it runs already");
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .unwrap();
        let mut command = as_user(&self.programs.join("postgres"));
        command.arg("-D").arg(data_in(self.folder.path()));
        command.arg("-k").arg(self.folder.path());
        for setting in ["listen_addresses=", "fsync=on", "synchronous_commit=on"] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        self.running = Some(command.spawn().unwrap());
        let begun = Instant::now();
        while !self.is_ready() {
            let ended = self.running.as_mut().unwrap().try_wait().unwrap();
            assert!(
                ended.is_none() && begun.elapsed() < STARTS_WITHIN,
                "Postgres did not start: {}",
                self.log()
            );
            pause();
        }
    }

    /// Whether it takes connections: the 8th line of its own note says so.
    fn is_ready(&self) -> bool {
        let note = data_in(self.folder.path()).join("postmaster.pid");
        let note = std::fs::read_to_string(note).unwrap_or_default();
        note.lines()
            .nth(7)
            .is_some_and(|line| line.trim() == "ready")
    }

    /// Ends it as a crash would: nothing is written that wasn't.
    pub(crate) fn crash(&mut self) {
        self.end("-QUIT");
    }

    /// Ends it in order, though not waiting for anyone to leave.
    pub(crate) fn stop(&mut self) {
        self.end("-INT");
    }

    fn end(&mut self, signal: &str) {
        if let Some(mut child) = self.running.take() {
            let id = child.id().to_string();
            run(Command::new("kill").args([signal, &id]));
            child.wait().unwrap();
        }
    }

    /// The address of its one database.
    pub(crate) fn url(&self) -> String {
        let socket = self.folder.path().to_str().unwrap();
        format!("postgres://{LOGIN}@localhost/postgres?host={socket}")
    }

    /// What it wrote to its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Removes the folders of tests that were killed: nobody has them locked.
fn sweep() {
    for entry in std::fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDERS);
        let Ok(lock) = File::open(entry.path().join(LOCK)) else {
            continue;
        };
        if is_ours && lock.try_lock().is_ok() {
            // Whoever made it just now may be about to lock it.
            let made = lock.metadata().and_then(|it| it.modified()).ok();
            let age = made.and_then(|made| made.elapsed().ok());
            if age.is_none_or(|age| age < STARTS_WITHIN) {
                continue;
            }
            // Another sweeper may be at it.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn data_in(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// The folder of Postgres' programs.
fn programs() -> PathBuf {
    let named = std::env::var_os(PROGRAMS).map(PathBuf::from);
    let folder = named.or_else(newest_of_debian).unwrap_or_default();
    for program in ["initdb", "postgres"] {
        assert!(
            folder.join(program).is_file(),
            "these tests need Postgres' programs, and there is no {program} in `{}`: install \
             Debian's package postgresql, or name the folder they are in with {PROGRAMS}",
            folder.display()
        );
    }
    folder
}

fn newest_of_debian() -> Option<PathBuf> {
    let versions = std::fs::read_dir(DEBIANS).ok()?.flatten();
    let numbered = versions.filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    numbered.max().map(|(_, folder)| folder)
}

/// A folder of data as `initdb` makes it, which takes longer than all else here: made once
/// and copied.
fn template(programs: &Path) -> PathBuf {
    let version = Command::new(programs.join("postgres"))
        .arg("--version")
        .output()
        .unwrap();
    let version: String = String::from_utf8(version.stdout)
        .unwrap()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '.')
        .collect();
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let template = root.join(version);
    let lock = File::create(root.join("postgres.lock")).unwrap();
    lock.lock().unwrap();
    if template.exists() {
        return template;
    }
    // Postgres' user may not see the folder for it to be in.
    let folder = TempDir::with_prefix(FOLDERS).unwrap();
    hand_over(folder.path());
    run(as_user(&programs.join("initdb"))
        .arg("-D")
        .arg(data_in(folder.path()))
        .args(["-U", LOGIN, "-A", "trust", "-E", "UTF8", "--locale", "C"])
        .args(["--wal-segsize", "1", "--no-sync"])
        .stdout(Stdio::null()));
    let unfinished = root.join("postgres.unfinished");
    let _ = std::fs::remove_dir_all(&unfinished);
    run(Command::new("cp")
        .arg("-a")
        .arg(data_in(folder.path()))
        .arg(&unfinished));
    std::fs::rename(&unfinished, &template).unwrap();
    template
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

fn hand_over(folder: &Path) {
    if is_root() {
        run(Command::new("chown").arg(USER).arg(folder));
    }
}

/// A program to be run as somebody who isn't root, and told to end when this thread does:
/// a killed test leaves no server.
fn as_user(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]);
    }
    command.args(["--pdeathsig", "INT", "--"]).arg(program);
    command.current_dir("/");
    command
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    let program: &OsStr = command.get_program();
    assert!(status.success(), "{} failed", program.display());
}

#[allow(
    clippy::disallowed_methods,
    reason = "the test waits, and nothing else runs"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}
