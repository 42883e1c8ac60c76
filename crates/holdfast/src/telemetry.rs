//! Logs: one set-up, text or JSON lines on standard error.

use std::io::IsTerminal;

use tracing::Subscriber;
use tracing::subscriber::SetGlobalDefaultError;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::config::{LogConfig, LogFormat};

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter can't be read.
    #[error("expected a log filter such as `info` or `warn,worker=debug`: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something has set up logging in this process before.
    #[error("logging is set up already")]
    SetUpAlready(#[from] SetGlobalDefaultError),
}

/// Sends all this process logs to standard error. Once per process.
pub fn init(log: &LogConfig) -> Result<(), TelemetryError> {
    let with_colours = std::io::stderr().is_terminal();
    let subscriber = subscriber(log, with_colours, std::io::stderr)?;
    Ok(tracing::subscriber::set_global_default(subscriber)?)
}

/// Reads a filter of [`LogConfig::filter`].
pub fn parse_filter(filter: &str) -> Result<EnvFilter, TelemetryError> {
    Ok(EnvFilter::builder().parse(filter)?)
}

/// What [`init`] sets up, writing wherever it is told to.
pub fn subscriber<W>(
    log: &LogConfig,
    with_colours: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, TelemetryError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let lines = tracing_subscriber::fmt()
        .with_env_filter(parse_filter(&log.filter)?)
        .with_ansi(with_colours)
        .with_writer(writer);
    Ok(match log.format {
        LogFormat::Text => Box::new(lines.finish()),
        LogFormat::Json => Box::new(lines.json().flatten_event(true).finish()),
    })
}
