//! Every setting: its name, default, meaning and how its text is read, in one table.
//!
//! Flags win over the environment, that over `toll.toml`, that over the default (see [`layers`]). The flag of `cache_bytes`
//! is `--cache-bytes`, its variable is named in the table, its key in `toll.toml` is `cache_bytes`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ipnet::IpNet;

pub mod flags;
pub mod layers;
mod values;

pub use layers::{ConfigError, Layers};
pub use values::{LogFormat, OnStoreFailure};

/// What the table says of a setting, for `--help` and for errors.
pub struct Setting {
    /// The key in `toll.toml`.
    pub key: &'static str,
    pub variable: &'static str,
    /// Empty: unset.
    pub default: &'static str,
    /// What stands for the value in `--help`.
    pub value: &'static str,
    pub doc: &'static str,
}

/// One entry a setting: doc, `key: type = default, variable, placeholder, parser`.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $key:ident: $type:ty = $default:literal, $variable:literal, $value:literal, $parse:path;)+) => {
        pub const SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            variable: $variable,
            default: $default,
            value: $value,
            doc: concat!($($doc),+),
        },)+];

        /// The settings of this process. No `Debug`: database URLs hold passwords.
        #[derive(Clone)]
        pub struct Config { $($(#[doc = $doc])+ pub $key: $type,)+ }

        impl Config {
            fn read(layers: &Layers) -> Result<Config, ConfigError> {
                let file = layers.read_file()?;
                Ok(Config { $($key: layers.value(&file, stringify!($key), $parse)?,)+ })
            }
        }
    };
}

settings! {
    /// Gateway and portal
    listen: SocketAddr = "127.0.0.1:8080", "TOLL_LISTEN", "ADDRESS:PORT", values::address;
    /// The portal on an address of its own, so that proxied pages never share its origin; advised in production
    portal_listen: Option<SocketAddr> = "", "TOLL_PORTAL_LISTEN", "ADDRESS:PORT", values::optional_address;
    /// /metrics (Prometheus), /healthz and /readyz; "none" opens no port for them
    admin_listen: Option<SocketAddr> = "127.0.0.1:9090", "TOLL_ADMIN_LISTEN", "ADDRESS:PORT", values::optional_address;
    /// The address that people type, for links and cookies (Secure when https) [default: from listen or portal_listen]
    public_url: Option<String> = "", "TOLL_PUBLIC_URL", "URL", values::public_url;
    /// PostgreSQL; unset, Toll starts and stops a private one of its own under data_dir
    database_url: Option<String> = "", "DATABASE_URL", "URL", values::database_url;
    /// Private PostgreSQL, ledger journal, node identity; one serve a folder
    data_dir: PathBuf = "./toll-data", "TOLL_DATA_DIR", "FOLDER", values::path;
    /// The built site: the portal's scripts, styles and images
    site_dir: PathBuf = "target/site", "TOLL_SITE_DIR", "FOLDER", values::path;
    /// Certificate chain (PEM) for TLS 1.2+ and HTTP/2 by ALPN
    tls_cert: Option<PathBuf> = "", "TOLL_TLS_CERT", "FILE", values::optional_path;
    /// Private key (PEM) of tls_cert
    tls_key: Option<PathBuf> = "", "TOLL_TLS_KEY", "FILE", values::optional_path;
    /// Networks whose X-Forwarded-For is believed, such as 10.0.0.0/8,::1
    trusted_proxies: Vec<IpNet> = "", "TOLL_TRUSTED_PROXIES", "CIDR,…", values::networks;
    /// How long a client may take to send a request's headers
    header_timeout: Duration = "30s", "TOLL_HEADER_TIMEOUT", "DURATION", values::positive_duration;
    /// How long a client may pause within a body
    body_idle: Duration = "30s", "TOLL_BODY_IDLE", "DURATION", values::positive_duration;
    /// While the database is away: "meter_locally" goes on from the tokens last seen, "refuse" answers quota_unavailable
    on_store_failure: OnStoreFailure = "meter_locally", "TOLL_ON_STORE_FAILURE", "WAY", values::on_store_failure;
    /// How long an upstream may pause within its answer, event streams included
    upstream_idle: Duration = "60s", "TOLL_UPSTREAM_IDLE", "DURATION", values::positive_duration;
    /// Response cache of this node, by weight
    cache_bytes: u64 = "256MiB", "TOLL_CACHE_BYTES", "SIZE", values::size;
    /// Bound of the ledger's journal on disk; when it is full the gateway answers books_full
    journal_bytes: u64 = "1GiB", "TOLL_JOURNAL_BYTES", "SIZE", values::positive_size;
    /// How often the journal is fsynced: what a power cut may lose
    journal_sync: Duration = "100ms", "TOLL_JOURNAL_SYNC", "DURATION", values::positive_duration;
    /// How long single requests stay in the log
    log_retention: Duration = "14d", "TOLL_LOG_RETENTION", "DURATION", values::days;
    /// How long rollups by the minute stay
    minute_retention: Duration = "35d", "TOLL_MINUTE_RETENTION", "DURATION", values::days;
    /// How long rollups by the hour stay; those by the day stay for ever
    hour_retention: Duration = "400d", "TOLL_HOUR_RETENTION", "DURATION", values::days;
    /// Threads that serve the gateway [default: as many as there are cores]
    gateway_threads: usize = "", "TOLL_GATEWAY_THREADS", "NUMBER", values::threads;
    /// What to log, such as info or toll=debug,sqlx=warn; RUST_LOG goes before it
    log: String = "info,sqlx=error", "TOLL_LOG", "FILTER", values::log_filter;
    /// "human", "json", or "auto": human on a terminal, else json
    log_format: LogFormat = "auto", "TOLL_LOG_FORMAT", "FORMAT", values::log_format;
}

impl Config {
    /// Reads all layers. Errors name where the bad value stands and what to write instead.
    pub fn load(layers: &Layers) -> Result<Config, ConfigError> {
        let mut config = Config::read(layers)?;
        if config.tls_cert.is_some() != config.tls_key.is_some() {
            let (has, lacks) =
                if config.tls_cert.is_some() { ("tls_cert", "tls_key") } else { ("tls_key", "tls_cert") };
            return Err(ConfigError::Incomplete { has, lacks });
        }
        config.data_dir = std::path::absolute(&config.data_dir).unwrap_or(config.data_dir);
        Ok(config)
    }

    /// Where people reach this node.
    pub fn public_url(&self) -> String {
        let listens = || self.url_of(self.portal_listen.unwrap_or(self.listen));
        self.public_url.clone().unwrap_or_else(listens)
    }

    /// How a browser on this machine reaches a listener at `address`.
    pub fn url_of(&self, address: SocketAddr) -> String {
        let scheme = if self.tls_cert.is_some() { "https" } else { "http" };
        match address.ip().is_unspecified() {
            true => format!("{scheme}://localhost:{}", address.port()),
            false => format!("{scheme}://{address}"),
        }
    }

    pub fn is_https(&self) -> bool {
        self.public_url().starts_with("https://")
    }
}
