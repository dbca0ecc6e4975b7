//! How the text of a setting becomes its value. An error says what was written and what to write instead; where it was
//! written is added by the layer.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use ipnet::IpNet;
use sqlx::postgres::PgConnectOptions;
use tracing_subscriber::EnvFilter;

use crate::units;

/// What becomes of quotas while the database is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStoreFailure {
    /// Go on from the tokens last seen, mark it, settle later.
    MeterLocally,
    /// Answer `quota_unavailable`.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Human on a terminal, else JSON.
    Auto,
    Human,
    Json,
}

type Parsed<T> = Result<T, String>;

pub fn address(text: &str) -> Parsed<SocketAddr> {
    text.parse().map_err(|_| {
        format!(
            "{text:?} is no address to listen on: write an IP address and a port, such as \"127.0.0.1:8080\""
        )
    })
}

pub fn optional_address(text: &str) -> Parsed<Option<SocketAddr>> {
    match text {
        "" | "none" => Ok(None),
        text => address(text).map(Some),
    }
}

pub fn public_url(text: &str) -> Parsed<Option<String>> {
    if text.is_empty() {
        return Ok(None);
    }
    let bad =
        || format!("{text:?} is no public URL: write scheme and host, such as \"https://toll.example\"");
    let url = text.trim_end_matches('/');
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).ok_or_else(bad)?;
    let uri: http::Uri = url.parse().map_err(|_| bad())?;
    // The portal's own paths begin at the root.
    if uri.authority().map(|a| a.as_str()) != Some(host) || host.contains('@') {
        return Err(bad());
    }
    Ok(Some(url.to_owned()))
}

pub fn database_url(text: &str) -> Parsed<Option<String>> {
    if text.is_empty() {
        return Ok(None);
    }
    // The text is not repeated: it may hold a password.
    let bad = "is no PostgreSQL URL: write \"postgres://USER:PASSWORD@HOST:PORT/DATABASE\"";
    let scheme = text.starts_with("postgres://") || text.starts_with("postgresql://");
    if !scheme || PgConnectOptions::from_str(text).is_err() {
        return Err(bad.to_owned());
    }
    Ok(Some(text.to_owned()))
}

pub fn path(text: &str) -> Parsed<PathBuf> {
    if text.is_empty() {
        return Err("is empty: write a path".to_owned());
    }
    Ok(PathBuf::from(text))
}

pub fn optional_path(text: &str) -> Parsed<Option<PathBuf>> {
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

pub fn networks(text: &str) -> Parsed<Vec<IpNet>> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty() && *item != "none");
    items
        .map(|item| {
            let single = || item.parse::<IpAddr>().map(IpNet::from);
            item.parse::<IpNet>().or_else(|_| single()).map_err(|_| {
                format!("{item:?} is no network: write addresses or CIDRs, such as \"10.0.0.0/8,::1\"")
            })
        })
        .collect()
}

pub fn on_store_failure(text: &str) -> Parsed<OnStoreFailure> {
    match text {
        "meter_locally" => Ok(OnStoreFailure::MeterLocally),
        "refuse" => Ok(OnStoreFailure::Refuse),
        _ => Err(format!("{text:?} is no such way: write \"meter_locally\" or \"refuse\"")),
    }
}

pub fn size(text: &str) -> Parsed<u64> {
    units::parse_size(text).map_err(|error| error.to_string())
}

pub fn positive_size(text: &str) -> Parsed<u64> {
    match size(text)? {
        0 => Err("must be above zero: write a size such as \"1GiB\"".to_owned()),
        bytes => Ok(bytes),
    }
}

pub fn positive_duration(text: &str) -> Parsed<Duration> {
    let duration = units::parse_duration(text).map_err(|error| error.to_string())?;
    match duration.is_zero() {
        true => Err("must be above zero: write a duration such as \"100ms\"".to_owned()),
        false => Ok(duration),
    }
}

/// Retention is by whole partitions of a day, and today's is being written.
pub fn days(text: &str) -> Parsed<Duration> {
    let duration = units::parse_duration(text).map_err(|error| error.to_string())?;
    match duration < Duration::from_secs(86_400) {
        true => Err(format!("{text:?} is less than a day: write whole days, such as \"14d\"")),
        false => Ok(duration),
    }
}

pub fn threads(text: &str) -> Parsed<usize> {
    if text.is_empty() {
        return Ok(std::thread::available_parallelism().map_or(1, usize::from));
    }
    match text.parse() {
        Ok(number @ 1..=1024) => Ok(number),
        _ => Err(format!("{text:?} is no number of threads: write 1 to 1024")),
    }
}

pub fn log_filter(text: &str) -> Parsed<String> {
    match EnvFilter::try_new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => {
            Err(format!("{text:?} is no log filter: write a level such as \"info\", or \"info,toll=debug\""))
        }
    }
}

pub fn log_format(text: &str) -> Parsed<LogFormat> {
    match text {
        "auto" => Ok(LogFormat::Auto),
        "human" => Ok(LogFormat::Human),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("{text:?} is no log format: write \"auto\", \"human\" or \"json\"")),
    }
}
