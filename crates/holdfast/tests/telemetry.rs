//! Log lines in either form, and what the filter lets through.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use holdfast::config::{LogConfig, LogFormat};
use holdfast::telemetry::{TelemetryError, init, subscriber};
use serde_json::Value;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn config(format: LogFormat, filter: &str) -> LogConfig {
    LogConfig {
        format,
        filter: filter.to_owned(),
    }
}

fn logged(format: LogFormat, filter: &str) -> String {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = subscriber(&config(format, filter), false, move || writer.clone()).unwrap();
    tracing::subscriber::with_default(subscriber, || {
        tracing::info!(count = 3, "taken in");
        tracing::debug!("in detail");
        tracing::warn!(target: "loud", "from elsewhere");
    });
    let bytes = lines.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn text_lines_are_for_people() {
    let text = logged(LogFormat::Text, "info");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains("INFO") && lines[0].contains("taken in") && lines[0].contains("count=3")
    );
    assert!(!text.contains('\u{1b}'), "colours in {text:?}");
}

#[test]
fn json_lines_are_an_object_each() {
    let text = logged(LogFormat::Json, "info");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["message"], "taken in");
    assert_eq!(lines[0]["count"], 3);
    assert_eq!(lines[0]["level"], "INFO");
    assert_eq!(lines[1]["target"], "loud");
}

#[test]
fn the_filter_goes_by_target() {
    let text = logged(LogFormat::Text, "off,loud=warn");
    assert!(
        text.contains("from elsewhere") && !text.contains("taken in"),
        "{text}"
    );
    let text = logged(LogFormat::Text, "debug");
    assert!(text.contains("in detail"), "{text}");
}

#[test]
fn a_filter_that_is_none_is_an_error() {
    let result = subscriber(
        &config(LogFormat::Text, "info,worker=loud"),
        false,
        std::io::stderr,
    );
    assert!(matches!(result, Err(TelemetryError::Filter(_))));
}

#[test]
fn logging_is_set_up_once() {
    init(&config(LogFormat::Text, "error")).unwrap();
    let again = init(&config(LogFormat::Json, "error"));
    assert!(matches!(again, Err(TelemetryError::SetUpAlready(_))));
}
