//! What Toll tells those who run it: its log on standard error, and the admin listener's metrics and health.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

pub mod admin;
pub mod metrics;

/// Sets up the log of this process: human on a terminal, else a JSON object a line. `RUST_LOG` goes before `TOLL_LOG`.
///
/// Commands other than `serve` pass `default`, which stands in for the setting: they say what goes wrong and no more.
pub fn init(config: &Config, default: Option<&str>) {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(text) if !text.is_empty() => EnvFilter::new(text),
        _ => EnvFilter::new(default.unwrap_or(&config.log)),
    };
    let is_terminal = std::io::stderr().is_terminal();
    let is_human = match config.log_format {
        LogFormat::Auto => is_terminal,
        LogFormat::Human => true,
        LogFormat::Json => false,
    };
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second call, in a test, changes nothing.
    let _already = match is_human {
        true => log.with_ansi(is_terminal).with_target(false).try_init(),
        false => log.json().flatten_event(true).with_current_span(false).try_init(),
    };
}
