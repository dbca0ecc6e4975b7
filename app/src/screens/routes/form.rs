//! A route as a form says it: texts as in the file of `toll apply`, by whose rules they are read.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RouteForm {
    pub name: String,
    pub path: String,
    pub upstream: String,
    pub strip: bool,
    /// With commas; empty for all.
    pub methods: String,
    pub access: String,
    pub body_limit: String,
    pub identity: bool,
    pub cache: bool,
    pub cache_ttl: String,
    /// With commas; empty for none.
    pub cors: String,
    pub off: bool,
}

/// What the form calls the keys of the file.
pub const LABELS: [(&str, &str); 12] = [
    ("name", "Name"),
    ("path", "Path"),
    ("upstream", "Upstream"),
    ("access", "Who may call"),
    ("methods", "Methods"),
    ("body_limit", "Largest body"),
    ("cors", "Origins"),
    ("cache_ttl", "Fresh for"),
    ("cache", "Cache answers"),
    ("strip", "Strip the path"),
    ("identity", "Tell who calls"),
    ("off", "Switched off"),
];

/// Of a key that the form has.
pub fn label(key: &str) -> &'static str {
    LABELS.iter().find(|(known, _)| *known == key).map_or("", |(_, label)| label)
}

impl RouteForm {
    /// As a route begins that says nothing else.
    pub fn usual() -> RouteForm {
        RouteForm {
            strip: true,
            access: "key".into(),
            body_limit: "1MiB".into(),
            cache_ttl: "0s".into(),
            ..RouteForm::default()
        }
    }

    pub fn of(table: &Table) -> RouteForm {
        let text = |key| table.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let flag = |key| table.get(key).and_then(Value::as_bool).unwrap_or_default();
        let list = |key| {
            let values = table.get(key).and_then(Value::as_array).into_iter().flatten();
            values.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        };
        RouteForm {
            name: text("name"),
            path: text("path"),
            upstream: text("upstream"),
            strip: flag("strip"),
            methods: list("methods"),
            access: text("access"),
            body_limit: text("body_limit"),
            identity: flag("identity"),
            cache: flag("cache"),
            cache_ttl: text("cache_ttl"),
            cors: list("cors"),
            off: flag("off"),
        }
    }

    pub fn table(&self) -> Table {
        let mut table = Table::new();
        let mut put = |key: &str, value: Value| table.insert(key.to_owned(), value);
        for (key, text) in [("name", &self.name), ("path", &self.path), ("upstream", &self.upstream)] {
            put(key, text.trim().into());
        }
        for (key, flag) in
            [("strip", self.strip), ("identity", self.identity), ("cache", self.cache), ("off", self.off)]
        {
            put(key, flag.into());
        }
        // What is left empty is left out: as usual.
        for (key, text) in
            [("access", &self.access), ("body_limit", &self.body_limit), ("cache_ttl", &self.cache_ttl)]
        {
            if !text.trim().is_empty() {
                put(key, text.trim().into());
            }
        }
        for (key, text) in [("methods", &self.methods), ("cors", &self.cors)] {
            let words: Vec<Value> =
                text.split([',', ' ']).filter(|word| !word.is_empty()).map(Value::from).collect();
            if !words.is_empty() {
                put(key, words.into());
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::file;

    #[test]
    fn every_key_that_a_form_can_say_has_a_label() {
        let all =
            RouteForm { methods: "GET".into(), cors: "https://shop.example".into(), ..RouteForm::usual() };
        for key in all.table().keys() {
            assert_ne!(label(key), "", "{key}");
        }
    }

    #[test]
    fn what_a_form_says_is_what_the_file_would_say() {
        let form = RouteForm {
            name: "orders".into(),
            path: "/orders ".into(),
            upstream: "orders".into(),
            methods: "GET, HEAD".into(),
            cors: "https://shop.example".into(),
            cache: true,
            cache_ttl: "60s".into(),
            ..RouteForm::usual()
        };
        assert_eq!(RouteForm::of(&form.table()), RouteForm { path: "/orders".into(), ..form.clone() });
        let routes = Value::Array(vec![form.table().into()]);
        let read = file::read(&Table::from_iter([("route".to_owned(), routes)]).to_string());
        assert_eq!(read.problems, []);
        let route = &read.manifest.routes["orders"];
        assert_eq!(route.methods.as_deref(), Some(&["GET".to_owned(), "HEAD".to_owned()][..]));
        assert_eq!((route.body_limit, route.cache_ttl_ms), (Some(1 << 20), 60_000));
    }
}
