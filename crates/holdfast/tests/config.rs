//! Settings from the file, the environment and flags, and what is wrong with them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser};
use holdfast::config::{ConfigArgs, ConfigError, Environment, Loaded, LogFormat, Source};

fn load_all(flags: &[&str], variables: &[(&str, &str)]) -> Result<Loaded, ConfigError> {
    let command = ConfigArgs::augment_args(clap::Command::new("holdfast"));
    let matches = command.try_get_matches_from(std::iter::once(&"holdfast").chain(flags))?;
    let variables = variables
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Loaded::load(&matches, &variables.collect::<Environment>())
}

fn load_file(text: &str) -> Result<Loaded, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holdfast.toml");
    std::fs::write(&path, text).unwrap();
    load_all(&["--config", path.to_str().unwrap()], &[])
}

/// How many settings there are: every flag but the one that names the file.
fn settings() -> usize {
    let command = ConfigArgs::augment_args(clap::Command::new("holdfast"));
    command.get_arguments().count() - 1
}

#[test]
fn with_nothing_set_the_defaults_hold() {
    let loaded = load_all(&[], &[]).unwrap();
    let config = &loaded.config;
    assert_eq!(config.data, Path::new("./holdfast-data"));
    assert_eq!(config.listen, "127.0.0.1:4440".parse().unwrap());
    assert_eq!(config.metrics_listen, "127.0.0.1:4441".parse().unwrap());
    assert_eq!(
        config.host_key_file(),
        Path::new("./holdfast-data/host.key")
    );
    assert_eq!(config.bucket_folder(), Path::new("./holdfast-data/bucket"));
    assert_eq!(config.bucket.flush_after_seconds, 300);
    assert_eq!(config.bucket.segment_bytes, 1_048_576);
    assert_eq!(config.log.format, LogFormat::Text);
    assert_eq!(config.limits.sockets, 20_000);
    assert_eq!(config.limits.message_memory_bytes, 1 << 30);
    assert!(config.verify_threads() >= 1);
    assert_eq!(loaded.source("listen"), Some(Source::Default));
    assert_eq!(loaded.source("nothing"), None);
}

#[test]
fn the_folders_follow_the_data_folder_unless_they_are_set() {
    let loaded = load_all(&["--data", "/srv/h", "--bucket-folder", "/mnt/b"], &[]).unwrap();
    assert_eq!(loaded.config.host_key_file(), Path::new("/srv/h/host.key"));
    assert_eq!(loaded.config.bucket_folder(), Path::new("/mnt/b"));
}

#[test]
fn a_flag_is_stronger_than_the_environment_and_that_than_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.toml");
    let text = "lease-seconds = 20\nspace-idle-seconds = 20\nverify-threads = 20\n[bucket]\nflush-after-seconds = 20\n";
    std::fs::write(&path, text).unwrap();
    let file = path.to_str().unwrap();

    let variables = [
        ("HOLDFAST_CONFIG", file),
        ("HOLDFAST_LEASE_SECONDS", "30"),
        ("HOLDFAST_SPACE_IDLE_SECONDS", "30"),
        ("HOLDFAST_LIMITS_SOCKETS", "30"),
        ("PATH", "/bin"),
    ];
    let loaded = load_all(
        &["--lease-seconds=40", "--limits-signature-queue", "40"],
        &variables,
    )
    .unwrap();

    assert_eq!(loaded.file.as_deref(), Some(path.as_path()));
    let config = &loaded.config;
    assert_eq!(config.lease_seconds, 40);
    assert_eq!(loaded.source("lease-seconds"), Some(Source::Flag));
    assert_eq!(config.space_idle_seconds, 30);
    assert_eq!(
        loaded.source("space-idle-seconds"),
        Some(Source::Environment)
    );
    assert_eq!(config.verify_threads(), 20);
    assert_eq!(loaded.source("verify-threads"), Some(Source::File));
    assert_eq!(config.bucket.flush_after_seconds, 20);
    assert_eq!(
        loaded.source("bucket.flush-after-seconds"),
        Some(Source::File)
    );
    assert_eq!(config.limits.sockets, 30);
    assert_eq!(loaded.source("limits.sockets"), Some(Source::Environment));
    assert_eq!(config.limits.signature_queue, 40);
    assert_eq!(config.bucket.segment_bytes, 1_048_576);
    assert_eq!(loaded.source("bucket.segment-bytes"), Some(Source::Default));
    assert!(loaded.unknown_variables.is_empty());
}

#[test]
fn a_flag_set_to_the_default_is_still_from_the_flag() {
    let loaded = load_all(&["--lease-seconds=15"], &[("HOLDFAST_LEASE_SECONDS", "30")]).unwrap();
    assert_eq!(loaded.config.lease_seconds, 15);
    assert_eq!(loaded.source("lease-seconds"), Some(Source::Flag));
}

#[test]
fn the_flag_that_names_the_file_is_stronger_than_the_variable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.toml");
    std::fs::write(&path, "lease-seconds = 20").unwrap();
    let flags = ["--config", path.to_str().unwrap()];
    let loaded = load_all(&flags, &[("HOLDFAST_CONFIG", "/nowhere")]).unwrap();
    assert_eq!(loaded.config.lease_seconds, 20);
}

#[test]
fn a_file_that_was_named_and_is_not_there_is_an_error() {
    let error = load_all(&["--config", "/nowhere/h.toml"], &[]).unwrap_err();
    assert!(
        matches!(&error, ConfigError::Unreadable { path, .. } if path == &PathBuf::from("/nowhere/h.toml"))
    );
}

#[test]
fn unknown_keys_are_errors_that_name_the_key() {
    for (text, named) in [
        ("listne = \"127.0.0.1:1\"", "listne"),
        ("[bucket]\nfodler = \"x\"", "bucket.fodler"),
        ("[limits]\nsignature_queue = 3", "limits.signature_queue"),
        ("[backet]\nfolder = \"x\"", "backet"),
        ("[bucket.deep]\nfolder = \"x\"", "bucket.deep"),
        ("config = \"other.toml\"", "config"),
    ] {
        match load_file(text).unwrap_err() {
            ConfigError::UnknownKey { key, .. } => assert_eq!(key, named),
            other => panic!("{text}: {other}"),
        }
    }
}

#[test]
fn values_of_the_wrong_kind_are_errors_that_name_the_key() {
    for (text, named) in [
        ("lease-seconds = \"15\"", "lease-seconds"),
        ("lease-seconds = 1.5", "lease-seconds"),
        ("lease-seconds = -1", "lease-seconds"),
        ("lease-seconds = 4294967296", "lease-seconds"),
        ("listen = \"localhost\"", "listen"),
        ("listen = 4440", "listen"),
        ("data = 3", "data"),
        ("[data]", "data"),
        ("bucket = 3", "bucket"),
        ("[bucket]\nfolder = true", "bucket.folder"),
        ("[log]\nformat = \"xml\"", "log.format"),
        ("[limits]\nsockets = []", "limits.sockets"),
    ] {
        match load_file(text).unwrap_err() {
            ConfigError::FileValue { key, .. } => assert_eq!(key, named, "{text}"),
            other => panic!("{text}: {other}"),
        }
    }
}

#[test]
fn a_log_filter_that_is_none_is_an_error_that_names_the_key() {
    let error = load_all(&["--log-filter=info,worker=loud"], &[]).unwrap_err();
    assert!(
        matches!(&error, ConfigError::OutOfRange { key, .. } if key == "log.filter"),
        "{error}"
    );
}

#[test]
fn the_proxys_addresses_are_a_list_wherever_they_come_from() {
    let addresses: [std::net::IpAddr; 2] =
        ["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()];
    let by_flag = load_all(&["--proxy-addresses=10.0.0.1,fd00::1"], &[]).unwrap();
    assert_eq!(by_flag.config.proxy.addresses, addresses);
    let variables = [("HOLDFAST_PROXY_ADDRESSES", "10.0.0.1,fd00::1")];
    let by_variable = load_all(&[], &variables).unwrap();
    assert_eq!(by_variable.config.proxy.addresses, addresses);
    assert_eq!(
        by_variable.source("proxy.addresses"),
        Some(Source::Environment)
    );
    let by_file = load_file("[proxy]\naddresses = [\"10.0.0.1\", \"fd00::1\"]").unwrap();
    assert_eq!(by_file.config.proxy.addresses, addresses);
    assert_eq!(by_file.config.proxy.header, "x-forwarded-for");

    assert!(
        load_all(&[], &[])
            .unwrap()
            .config
            .proxy
            .addresses
            .is_empty()
    );
    let error = load_all(&[], &[("HOLDFAST_PROXY_ADDRESSES", "10.0.0.1,proxy")]).unwrap_err();
    assert!(matches!(error, ConfigError::Variable { .. }), "{error}");
    let error = load_file("[proxy]\naddresses = [\"proxy\"]").unwrap_err();
    assert!(
        matches!(&error, ConfigError::FileValue { key, .. } if key == "proxy.addresses"),
        "{error}"
    );
    let error = load_file("[proxy]\nheader = \"x forwarded for\"").unwrap_err();
    assert!(
        matches!(&error, ConfigError::OutOfRange { key, .. } if key == "proxy.header"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_toml_says_where_without_quoting_it() {
    let error = load_file("lease-seconds = 20\n\nkey-of-something = s3cr3t\n").unwrap_err();
    assert!(
        matches!(error, ConfigError::Syntax { line: 3, .. }),
        "{error}"
    );
    assert!(!error.to_string().contains("s3cr3t"), "{error}");
}

#[test]
fn bad_variables_are_errors_that_name_the_variable() {
    for (name, value) in [
        ("HOLDFAST_LEASE_SECONDS", "soon"),
        ("HOLDFAST_LEASE_SECONDS", ""),
        ("HOLDFAST_LEASE_SECONDS", "4294967296"),
        ("HOLDFAST_LISTEN", "localhost"),
        ("HOLDFAST_LOG_FORMAT", "xml"),
        (
            "HOLDFAST_LIMITS_MESSAGE_MEMORY_BYTES",
            "18446744073709551615",
        ),
    ] {
        match load_all(&[], &[(name, value)]).unwrap_err() {
            ConfigError::Variable { variable, reason } => {
                assert_eq!(variable, name);
                assert!(!reason.is_empty());
            }
            other => panic!("{name}={value}: {other}"),
        }
    }
    // Even where a flag would win.
    let error = load_all(
        &["--lease-seconds=15"],
        &[("HOLDFAST_LEASE_SECONDS", "soon")],
    )
    .unwrap_err();
    assert!(matches!(error, ConfigError::Variable { .. }), "{error}");
}

#[test]
fn a_bad_choice_says_what_can_be_chosen() {
    let error = load_all(&[], &[("HOLDFAST_LOG_FORMAT", "xml")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("text") && error.contains("json"), "{error}");
    let error = load_file("[log]\nformat = \"xml\"")
        .unwrap_err()
        .to_string();
    assert!(error.contains("text") && error.contains("json"), "{error}");
}

#[test]
fn bad_flags_are_errors() {
    for flag in [
        "--lease-seconds=soon",
        "--limits-sockets=-1",
        "--nothing=1",
        "stray",
    ] {
        let error = load_all(&[flag], &[]).unwrap_err();
        assert!(matches!(error, ConfigError::Flag(_)), "{flag}");
    }
}

#[test]
fn values_out_of_range_are_errors_that_name_key_and_source() {
    for (flag, named, expected) in [
        ("--lease-seconds=4", "lease-seconds", "at least 5"),
        ("--space-idle-seconds=0", "space-idle-seconds", "at least 1"),
        ("--verify-threads=0", "verify-threads", "at least 1"),
        (
            "--bucket-segment-bytes=100",
            "bucket.segment-bytes",
            "4096 to 67108864",
        ),
        (
            "--bucket-segment-bytes=67108865",
            "bucket.segment-bytes",
            "4096 to 67108864",
        ),
        ("--limits-sockets=0", "limits.sockets", "at least 1"),
        (
            "--limits-message-memory-bytes=0",
            "limits.message-memory-bytes",
            "at least 1",
        ),
    ] {
        match load_all(&[flag], &[]).unwrap_err() {
            ConfigError::OutOfRange {
                key,
                from,
                expected: said,
                ..
            } => {
                assert_eq!(
                    (key.as_str(), from.as_str(), said.as_str()),
                    (named, "flag", expected)
                );
            }
            other => panic!("{flag}: {other}"),
        }
    }
    let error = load_file("lease-seconds = 1").unwrap_err().to_string();
    assert_eq!(error, "`lease-seconds` (file): expected at least 5, got 1");
}

#[test]
fn the_check_tells_every_setting_and_where_it_comes_from() {
    let variables = [
        ("HOLDFAST_LOG_FORMAT", "json"),
        ("HOLDFAST_SERVICE_PORT", "tcp://10.0.0.1:4440"),
    ];
    let loaded = load_all(&["--data=/srv/h", "--limits-sockets=7"], &variables).unwrap();
    let text = loaded.describe();
    let line = |start: &str| {
        let found: Vec<_> = text
            .lines()
            .filter(|line| line.starts_with(start))
            .collect();
        assert_eq!(found.len(), 1, "{start} in\n{text}");
        found[0].split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("data "), "data = \"/srv/h\" # flag: --data");
    assert_eq!(
        line("host-key "),
        "host-key = \"/srv/h/host.key\" # default"
    );
    assert_eq!(line("folder "), "folder = \"/srv/h/bucket\" # default");
    assert_eq!(
        line("format "),
        "format = \"json\" # environment: HOLDFAST_LOG_FORMAT"
    );
    assert_eq!(line("sockets "), "sockets = 7 # flag: --limits-sockets");
    assert_eq!(
        line("# HOLDFAST_SERVICE_PORT"),
        "# HOLDFAST_SERVICE_PORT is set, and is no setting"
    );
    assert!(!text.contains("10.0.0.1"));
    assert_eq!(
        text.lines().filter(|line| line.contains(" = ")).count(),
        settings()
    );
}

#[test]
fn what_the_check_prints_is_a_file_that_sets_the_same() {
    let flags = [
        "--data=/srv/\"h\"",
        "--limits-sockets=7",
        "--log-filter=warn,worker=debug",
    ];
    let loaded = load_all(&flags, &[]).unwrap();
    let again = load_file(&loaded.describe()).unwrap();
    assert_eq!(again.config.host_key_file(), loaded.config.host_key_file());
    assert_eq!(again.config.bucket_folder(), loaded.config.bucket_folder());
    assert_eq!(
        again.config.verify_threads(),
        loaded.config.verify_threads()
    );
    assert_eq!(again.config.limits, loaded.config.limits);
    assert_eq!(again.config.log, loaded.config.log);
    assert_eq!(again.source("limits.sockets"), Some(Source::File));
    assert_eq!(again.source("lease-seconds"), Some(Source::File));
}

/// Hosts spaces
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// Serves the spaces
    Serve {
        #[command(flatten)]
        config: ConfigArgs,
    },
}

#[test]
fn flags_are_read_through_a_commands_own_type() {
    let cli = Cli::parse_from(["holdfast", "serve", "--lease-seconds=40"]);
    let Subcommand::Serve { config } = cli.command;
    assert_eq!(config.settings.lease_seconds, 40);
}

#[test]
fn the_help_of_a_command_says_each_default_and_keeps_the_commands_own_words() {
    let mut command = Cli::command();
    let serve = command.find_subcommand_mut("serve").unwrap();
    let help = serve.render_long_help().to_string();
    assert!(help.starts_with("Serves the spaces"), "{help}");
    let described = help.matches("[default:").count();
    assert_eq!(described, settings(), "{help}");
}

#[test]
fn a_databases_password_comes_from_the_environment_or_a_file_of_its_own_and_is_never_shown() {
    let with_password = "postgres://holdfast:secret@db.example/holdfast";
    let in_file = format!("[store]\nurl = \"{with_password}\"");
    let as_flag = load_all(&["--store-url", with_password], &[]);
    for (refused, from) in [(load_file(&in_file), "file"), (as_flag, "flag")] {
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!(
                "`store.url` ({from}): expected an address without a password"
            )),
            "{refused}"
        );
        assert!(!refused.contains("secret"), "{refused}");
    }

    let loaded = load_all(&[], &[("HOLDFAST_STORE_URL", with_password)]).unwrap();
    assert!(loaded.config.postgres().unwrap().is_some());
    let shown = loaded.describe();
    assert!(
        shown.contains("# environment: HOLDFAST_STORE_URL, not shown"),
        "{shown}"
    );
    for text in [shown, format!("{loaded:?}")] {
        assert!(
            !text.contains("secret") && !text.contains("db.example"),
            "{text}"
        );
    }
}

#[test]
fn entries_are_in_the_data_folder_unless_one_setting_names_a_database() {
    let none = load_all(&[], &[]).unwrap();
    assert!(none.config.postgres().unwrap().is_none());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("url");
    let named = format!("--store-url-file={}", file.display());
    let loaded = load_all(&[&named], &[]).unwrap();
    let missing = loaded.config.postgres().unwrap_err().to_string();
    assert!(
        missing.starts_with("the file that `store.url-file` names"),
        "{missing}"
    );
    std::fs::write(&file, "postgres://holdfast:secret@db.example/holdfast\n").unwrap();
    assert!(loaded.config.postgres().unwrap().is_some());
    std::fs::write(&file, "secret").unwrap();
    let wrong = loaded.config.postgres().unwrap_err().to_string();
    assert!(wrong.contains("expected postgres://"), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");

    let both = load_all(&[&named, "--store-url=postgres://db.example/holdfast"], &[]).unwrap();
    let both = both.config.postgres().unwrap_err().to_string();
    assert_eq!(
        both,
        "`store.url` and `store.url-file` are both set: expected one of them"
    );
    let one = load_all(&["--store-connections=1"], &[]).unwrap_err();
    assert_eq!(
        one.to_string(),
        "`store.connections` (flag): expected 2 to 1000, got 1"
    );
}
