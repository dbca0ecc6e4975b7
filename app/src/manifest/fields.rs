//! Each thing as keys with values, as the file writes them: what a difference shows, and what an export writes.

use std::collections::BTreeMap;
use std::time::Duration;

use toml::Value;

use super::{Access, Breaker, Kind, Manifest, Partner, Plan, Route, Upstream, rules};
use crate::units;

/// A key of the file. None: the key is left out.
pub struct Field {
    pub key: &'static str,
    pub value: Option<Value>,
    pub default: Option<Value>,
}

impl Field {
    pub fn is_default(&self) -> bool {
        self.value == self.default
    }
}

/// A thing of the file without its name.
pub trait Fields: PartialEq {
    fn fields(&self) -> Vec<Field>;
}

impl Fields for Upstream {
    fn fields(&self) -> Vec<Field> {
        let usual = Breaker::default();
        let breaker = &self.breaker;
        vec![
            always("urls", list(&self.urls)),
            usually("connect_timeout", duration(self.connect_timeout_ms), duration(1000)),
            usually("timeout", duration(self.timeout_ms), duration(10_000)),
            perhaps("health", self.health.clone().map(Value::from)),
            usually("headers", table(&self.headers), Value::Table(toml::Table::new())),
            perhaps("tls.ca", self.tls.ca.clone().map(Value::from)),
            perhaps("tls.cert", self.tls.cert.clone().map(Value::from)),
            perhaps("tls.key", self.tls.key.clone().map(Value::from)),
            usually("breaker.failures", breaker.failures.into(), usual.failures.into()),
            usually("breaker.window", duration(breaker.window_ms), duration(usual.window_ms)),
            usually("breaker.open_for", duration(breaker.open_ms), duration(usual.open_ms)),
            usually("breaker.max_in_flight", breaker.max_in_flight.into(), usual.max_in_flight.into()),
        ]
    }
}

impl Fields for Plan {
    fn fields(&self) -> Vec<Field> {
        vec![
            always("capacity", self.capacity.into()),
            always("refill_per_second", self.refill_per_second.into()),
            usually("max_keys", self.max_keys.into(), 10.into()),
            perhaps("routes", self.routes.as_deref().map(list)),
            usually("sign_up", self.sign_up.into(), false.into()),
        ]
    }
}

impl Fields for Route {
    fn fields(&self) -> Vec<Field> {
        vec![
            always("path", self.path.clone().into()),
            always("upstream", self.upstream.clone().into()),
            usually("strip", self.strip.into(), true.into()),
            perhaps("methods", self.methods.as_deref().map(list)),
            usually("access", self.access.word().into(), Access::Key.word().into()),
            usually("body_limit", size(self.body_limit), size(Some(1 << 20))),
            usually("identity", self.identity.into(), false.into()),
            usually("cache", self.cache.into(), false.into()),
            usually("cache_ttl", duration(self.cache_ttl_ms), duration(0)),
            usually("cors", list(&self.cors), list(&[])),
            usually("off", self.off.into(), false.into()),
        ]
    }
}

impl Fields for Partner {
    fn fields(&self) -> Vec<Field> {
        vec![
            always("name", self.name.clone().into()),
            always("plan", self.plan.clone().into()),
            usually("suspended", self.suspended.into(), false.into()),
        ]
    }
}

/// Whatever is declared as `kind`, by name.
pub fn of(manifest: &Manifest, kind: Kind) -> BTreeMap<&str, Vec<Field>> {
    fn all<F: Fields>(things: &BTreeMap<String, F>) -> BTreeMap<&str, Vec<Field>> {
        things.iter().map(|(name, thing)| (name.as_str(), thing.fields())).collect()
    }
    match kind {
        Kind::Upstream => all(&manifest.upstreams),
        Kind::Plan => all(&manifest.plans),
        Kind::Route => all(&manifest.routes),
        Kind::Partner => all(&manifest.partners),
    }
}

/// As a screen or a terminal may show it: of headers, nothing but the variables' names.
pub fn shown(key: &str, value: &Value) -> Value {
    let Some(headers) = value.as_table().filter(|_| key == "headers") else { return value.clone() };
    let masked = headers.iter().map(|(name, value)| {
        let pieces = rules::template(value.as_str().unwrap_or_default()).unwrap_or_default();
        let masked: String = pieces
            .iter()
            .map(|piece| match piece {
                rules::Piece::Text(_) => "…".to_owned(),
                rules::Piece::Variable(name) => format!("${{{name}}}"),
            })
            .collect();
        (name.clone(), Value::from(masked))
    });
    Value::Table(masked.collect())
}

fn always(key: &'static str, value: Value) -> Field {
    Field { key, value: Some(value), default: None }
}

fn usually(key: &'static str, value: Value, default: Value) -> Field {
    Field { key, value: Some(value), default: Some(default) }
}

fn perhaps(key: &'static str, value: Option<Value>) -> Field {
    Field { key, value, default: None }
}

fn list(texts: &[String]) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect::<Vec<_>>().into()
}

fn table(texts: &BTreeMap<String, String>) -> Value {
    Value::Table(texts.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect())
}

fn duration(ms: i64) -> Value {
    units::format_duration(Duration::from_millis(ms.unsigned_abs())).into()
}

fn size(bytes: Option<i64>) -> Value {
    bytes.map_or_else(|| "none".to_owned(), |bytes| units::format_size(bytes.unsigned_abs())).into()
}
