//! The page's own address, and links that change a part of it.

use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};
use leptos_router::location::Url;

use crate::domain::span::Span;
use crate::domain::window::WindowError;

/// Parameters that say which page of a list is shown.
const PLACE: [&str; 2] = ["page", "before"];

/// Path and query of the page that is asked for. Everything that a screen shows is named in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    pub path: String,
    query: Vec<(String, String)>,
}

impl Address {
    /// Only within a component.
    pub fn current() -> Address {
        let query = use_query_map().get_untracked();
        Address {
            path: use_location().pathname.get_untracked(),
            // What a form that was refused left there is said once and goes into no link.
            query: query
                .into_iter()
                .filter(|(k, _)| !k.starts_with("__"))
                .map(|(k, v)| (k.into(), v))
                .collect(),
        }
    }

    /// Of a path and a query that are not the page's.
    pub fn parse(path: &str, query: &str) -> Address {
        let text = |text: &str| Url::unescape(&text.replace('+', " "));
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (text(name), text(value))
        });
        Address { path: path.to_owned(), query: pairs.collect() }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.query
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// The window: the last hour, if the address names none that makes sense. A link never fails for it.
    pub fn span(&self) -> Span {
        self.named_span().unwrap_or_default()
    }

    /// The window that the address names, or what is wrong with it.
    pub fn named_span(&self) -> Result<Span, WindowError> {
        Span::from_url(self.get("last"), self.get("from"), self.get("to"))
    }

    /// Whether the page is to stay as it is: `live=off`.
    pub fn is_paused(&self) -> bool {
        self.get("live") == Some("off")
    }

    /// This address with `name` set to `value`, or without it. Another filter starts at the first page again.
    pub fn with(&self, name: &str, value: Option<&str>) -> Address {
        let mut changed = self.clone();
        changed.query.retain(|(key, _)| key != name && !PLACE.contains(&key.as_str()));
        changed.query.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        changed
    }

    /// With another window.
    pub fn at(&self, span: Span) -> Address {
        let mut changed = self.without_window();
        changed.query.extend(span.to_url().split('&').filter_map(|pair| {
            pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        }));
        changed
    }

    /// Without its window, so that another can be said.
    pub fn without_window(&self) -> Address {
        self.with("last", None).with("from", None).with("to", None)
    }

    /// Another page, with the same window.
    pub fn elsewhere(&self, path: &str) -> Address {
        let window = ["last", "from", "to"];
        let query = self.query.iter().filter(|(key, _)| window.contains(&key.as_str())).cloned().collect();
        Address { path: path.to_owned(), query }
    }

    /// The parameters that a form, which makes its own query, must carry along as hidden fields.
    pub fn parameters_without(&self, names: &[&str]) -> Vec<(String, String)> {
        self.query.iter().filter(|(key, _)| !names.contains(&key.as_str())).cloned().collect()
    }

    /// As a link.
    pub fn href(&self) -> String {
        let pairs: Vec<_> = self
            .query
            .iter()
            .map(|(key, value)| format!("{}={}", Url::escape(key), Url::escape(value)))
            .collect();
        match pairs.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, pairs.join("&")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(path: &str, query: &[(&str, &str)]) -> Address {
        let query = query.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Address { path: path.into(), query }
    }

    #[test]
    fn an_address_is_read_as_it_is_written() {
        let here = address("/ops", &[("route", "a b&c+d=ü"), ("last", "6h")]);
        let href = here.href();
        let (path, query) = href.split_once('?').unwrap_or_default();
        assert_eq!(Address::parse(path, query), here);
        assert_eq!(Address::parse("/ops", "a+b=%2B&&c").href(), "/ops?a%20b=%2B&c=");
    }

    #[test]
    fn another_window_or_filter_keeps_the_rest_and_starts_at_the_first_page() {
        let here = address("/ops/requests", &[("last", "6h"), ("route", "a b"), ("page", "3")]);
        let span = Span::Last(time::Duration::DAY);
        assert_eq!(here.at(span).href(), "/ops/requests?route=a%20b&last=24h");
        assert_eq!(here.with("stage", Some("quota")).href(), "/ops/requests?last=6h&route=a%20b&stage=quota");
        assert_eq!(here.with("route", None).href(), "/ops/requests?last=6h");
        assert_eq!(here.elsewhere("/ops/cache").href(), "/ops/cache?last=6h");
    }
}
