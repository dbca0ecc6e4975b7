//! Where a setting comes from: flags, then the environment, then the file, then the default.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{SETTINGS, Setting};

/// Read from the working directory if it is there and no other file is named.
const FILE: &str = "toll.toml";

/// Everything that was said outside the table of settings.
#[derive(Default)]
pub struct Layers {
    /// By the setting's key.
    pub flags: BTreeMap<&'static str, String>,
    pub environment: BTreeMap<OsString, OsString>,
    /// `--config`: must be there.
    pub file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// `place` is a flag, a variable, or a line of the file with the key.
    #[error("{place}: {fault}")]
    Bad { place: String, fault: String },
    #[error("{has} is set, but not {lacks}: TLS needs both, or neither")]
    Incomplete { has: &'static str, lacks: &'static str },
}

/// Values of `toll.toml` as text, with the place of each.
pub(super) type FileValues = BTreeMap<&'static str, (String, String)>;

impl Layers {
    pub fn from_environment(flags: BTreeMap<&'static str, String>, file: Option<PathBuf>) -> Layers {
        Layers { flags, environment: std::env::vars_os().collect(), file }
    }

    pub(super) fn read_file(&self) -> Result<FileValues, ConfigError> {
        let path = self.file.as_deref().unwrap_or(Path::new(FILE));
        match std::fs::read_to_string(path) {
            Ok(text) => read_toml(&path.display().to_string(), &text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.file.is_none() => {
                Ok(FileValues::new())
            }
            Err(error) => Err(bad(
                path.display(),
                format!("cannot be read ({error}): name a readable file with --config"),
            )),
        }
    }

    /// The value of one setting from the first layer that has it.
    pub(super) fn value<T>(
        &self,
        file: &FileValues,
        key: &str,
        parse: fn(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        let setting = SETTINGS.iter().find(|s| s.key == key).expect("keys come from the table itself");
        let (place, text) = self.text(file, setting)?;
        parse(&text).map_err(|fault| bad(place, fault))
    }

    fn text(&self, file: &FileValues, setting: &Setting) -> Result<(String, String), ConfigError> {
        if let Some(text) = self.flags.get(setting.key) {
            return Ok((setting.flag(), text.clone()));
        }
        let variable = self.environment.get(&OsString::from(setting.variable));
        // An empty variable is what `FOO= toll` and many deployment tools leave of one that is unset.
        if let Some(text) = variable.filter(|text| !text.is_empty()) {
            let text =
                text.to_str().ok_or_else(|| bad(setting.variable, "is not UTF-8: write plain text"))?;
            return Ok((setting.variable.to_owned(), text.to_owned()));
        }
        let default = || (setting.key.to_owned(), setting.default.to_owned());
        Ok(file.get(setting.key).cloned().unwrap_or_else(default))
    }
}

impl Setting {
    pub fn flag(&self) -> String {
        format!("--{}", self.key.replace('_', "-"))
    }
}

fn bad(place: impl ToString, fault: impl ToString) -> ConfigError {
    ConfigError::Bad { place: place.to_string(), fault: fault.to_string() }
}

fn read_toml(file: &str, text: &str) -> Result<FileValues, ConfigError> {
    let at = |offset: usize| format!("{file}:{}", text[..offset.min(text.len())].matches('\n').count() + 1);
    let table = DeTable::parse(text).map_err(|error| {
        let fault = error.message().lines().collect::<Vec<_>>().join(", ");
        bad(at(error.span().map_or(0, |span| span.start)), format!("{fault}: write KEY = \"VALUE\" lines"))
    })?;
    let mut values = FileValues::new();
    for (key, value) in table.get_ref() {
        let place = at(key.span().start);
        let name: &str = key.get_ref();
        let setting = SETTINGS.iter().find(|setting| setting.key == name).ok_or_else(|| {
            bad(&place, format!("no setting is called {name:?}: `toll serve --help` lists all"))
        })?;
        let text = plain(value).ok_or_else(|| {
            bad(format!("{place}: {name}"), "takes one value: write it as a text in quotes")
        })?;
        values.insert(setting.key, (format!("{place}: {name}"), text));
    }
    Ok(values)
}

/// Texts and numbers as they are, lists of texts joined by commas.
fn plain(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(plain).collect();
            items.map(|items| items.join(","))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, LogFormat, OnStoreFailure};
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, Layers) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("toll.toml");
        std::fs::write(&path, text).expect("writable");
        (dir, Layers { file: Some(path), ..Layers::default() })
    }

    fn fault(layers: &Layers) -> String {
        Config::load(layers).err().expect("a fault").to_string()
    }

    #[test]
    fn the_defaults_are_those_of_the_contract() {
        let config = Config::load(&Layers::default()).expect("defaults are good");
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(config.admin_listen.map(|a| a.to_string()).as_deref(), Some("127.0.0.1:9090"));
        assert_eq!(config.public_url(), "http://127.0.0.1:8080");
        assert_eq!(config.cache_bytes, 256 << 20);
        assert_eq!(config.on_store_failure, OnStoreFailure::MeterLocally);
        assert_eq!(config.log_format, LogFormat::Auto);
        assert_eq!((config.database_url, config.portal_listen), (None, None));
        assert!(config.data_dir.is_absolute() && config.data_dir.ends_with("toll-data"));
        assert!(config.trusted_proxies.is_empty() && config.gateway_threads > 0);
    }

    #[test]
    fn flags_win_over_the_environment_that_over_the_file_that_over_the_default() {
        let (_dir, mut layers) =
            file("listen = \"127.0.0.1:1\"\ncache_bytes = 1024\njournal_sync = \"1s\"\n");
        layers.environment.insert("TOLL_LISTEN".into(), "127.0.0.1:2".into());
        layers.environment.insert("TOLL_CACHE_BYTES".into(), "2KiB".into());
        layers.environment.insert("TOLL_JOURNAL_SYNC".into(), "".into());
        layers.flags.insert("listen", "127.0.0.1:3".to_owned());
        let config = Config::load(&layers).expect("good");
        assert_eq!(config.listen.port(), 3);
        assert_eq!(config.cache_bytes, 2048);
        assert_eq!(config.journal_sync.as_secs(), 1);
    }

    #[test]
    fn a_list_of_networks_is_read_from_the_file() {
        let (_dir, layers) = file("trusted_proxies = [\"10.0.0.0/8\", \"::1\"]\n");
        let config = Config::load(&layers).expect("good");
        let networks: Vec<String> = config.trusted_proxies.iter().map(ToString::to_string).collect();
        assert_eq!(networks, ["10.0.0.0/8", "::1/128"]);
    }

    #[test]
    fn a_fault_in_the_file_names_file_line_and_mend() {
        let cases = [
            ("\n\nlisten = \"here\"\n", ":3: listen: \"here\" is no address"),
            ("# a comment\nlistn = \"127.0.0.1:1\"\n", ":2: no setting is called \"listn\""),
            ("listen = \"127.0.0.1:1\"\n[tls]\ncert = \"x\"\n", ":2: no setting is called \"tls\""),
            ("listen = { port = 1 }\n", ":1: listen: takes one value"),
            ("listen = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"\n", ":2: duplicate key"),
            ("listen = \n", ":1: "),
            ("cache_bytes = -1\n", ":1: cache_bytes: \"-1\" is no size"),
            ("log_retention = \"1h\"\n", ":1: log_retention: \"1h\" is less than a day"),
        ];
        for (text, expected) in cases {
            let (_dir, layers) = file(text);
            let fault = fault(&layers);
            assert!(fault.contains(&format!("toll.toml{expected}")), "{fault}");
            assert!(!fault.contains('\n'), "{fault}");
        }
    }

    #[test]
    fn a_fault_elsewhere_names_the_variable_or_the_flag() {
        let mut layers = Layers::default();
        layers.environment.insert("TOLL_GATEWAY_THREADS".into(), "0".into());
        assert_eq!(fault(&layers), "TOLL_GATEWAY_THREADS: \"0\" is no number of threads: write 1 to 1024");
        layers.flags.insert("gateway_threads", "many".to_owned());
        assert!(fault(&layers).starts_with("--gateway-threads: \"many\""));
        let missing = Layers { file: Some("/nowhere/toll.toml".into()), ..Layers::default() };
        assert!(fault(&missing).starts_with("/nowhere/toll.toml: cannot be read"));
    }

    #[test]
    fn a_bad_database_url_is_not_repeated() {
        let mut layers = Layers::default();
        layers.environment.insert("DATABASE_URL".into(), "mysql://toll:hunter2@db/toll".into());
        let fault = fault(&layers);
        assert!(
            fault.starts_with("DATABASE_URL: is no PostgreSQL URL") && !fault.contains("hunter2"),
            "{fault}"
        );
    }

    #[test]
    fn tls_needs_certificate_and_key_and_makes_links_https() {
        let mut layers = Layers::default();
        layers.flags.insert("tls_cert", "cert.pem".to_owned());
        assert_eq!(fault(&layers), "tls_cert is set, but not tls_key: TLS needs both, or neither");
        layers.flags.insert("tls_key", "key.pem".to_owned());
        layers.flags.insert("listen", "0.0.0.0:443".to_owned());
        let config = Config::load(&layers).expect("good");
        assert_eq!(config.public_url(), "https://localhost:443");
        assert!(config.is_https());
    }

    #[test]
    fn a_public_url_is_an_origin_and_nothing_more() {
        for (text, kept) in [
            ("https://toll.example/", Some("https://toll.example")),
            ("http://[::1]:80", Some("http://[::1]:80")),
            ("toll.example", None),
            ("https://toll.example/portal", None),
            ("https://", None),
            ("https://me@toll.example", None),
        ] {
            let mut layers = Layers::default();
            layers.flags.insert("public_url", text.to_owned());
            let config = Config::load(&layers);
            assert_eq!(config.ok().and_then(|c| c.public_url).as_deref(), kept, "{text}");
        }
    }
}
