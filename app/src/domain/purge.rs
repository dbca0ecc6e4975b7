//! A purge: what an operator has told the caches to forget.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Bytes of a target that are kept.
pub const LONGEST: usize = 2_048;

/// What is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", content = "target", rename_all = "lowercase")]
pub enum Target {
    /// Path and query of one URL; the order of its query's parameters does not matter.
    Url(String),
    /// How paths begin, byte for byte.
    Prefix(String),
    /// A tag that the upstream gave in `Cache-Tag` or `Surrogate-Key`; case does not matter.
    Tag(String),
}

/// Why nothing can be forgotten like that. For people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTarget {
    #[error("a path behind the gateway begins with /api/, as in /api/orders/7")]
    NotBehindTheGateway,
    #[error("a tag is a word or more, without commas")]
    BadTag,
    #[error("longer than 2048 bytes")]
    TooLong,
    #[error("the kinds are url, prefix and tag")]
    UnknownKind,
}

impl Target {
    /// From a kind (`url`, `prefix` or `tag`) and a text. Scheme, host and fragment of a URL are left out: the caches hold
    /// what clients get under whatever name they call.
    pub fn read(kind: &str, text: &str) -> Result<Target, BadTarget> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(BadTarget::TooLong);
        }
        match kind {
            "url" => Ok(Target::Url(path(text)?)),
            "prefix" => Ok(Target::Prefix(path(text)?)),
            "tag" if text.is_empty() || text.contains([',', '\0']) => Err(BadTarget::BadTag),
            "tag" => Ok(Target::Tag(text.to_owned())),
            _ => Err(BadTarget::UnknownKind),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Target::Url(_) => "url",
            Target::Prefix(_) => "prefix",
            Target::Tag(_) => "tag",
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Target::Url(text) | Target::Prefix(text) | Target::Tag(text) => text,
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.text())
    }
}

fn path(text: &str) -> Result<String, BadTarget> {
    let text = text.split('#').next().unwrap_or_default();
    let without_origin = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => rest.find('/').map_or("", |at| &rest[at..]),
        _ => text,
    };
    let is_behind = without_origin == "/api" || without_origin.starts_with("/api/");
    let is_plain = without_origin.bytes().all(|byte| byte.is_ascii_graphic());
    (is_behind && is_plain).then(|| without_origin.to_owned()).ok_or(BadTarget::NotBehindTheGateway)
}

/// A purge as it stands in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purge {
    /// Counts up without a gap; nodes follow it.
    pub seq: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    #[serde(flatten)]
    pub target: Target,
    /// Who asked for it: an operator's email, or `toll purge`.
    pub by: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_with_and_without_its_origin() {
        let orders = Ok(Target::Url("/api/orders/7?a=1".into()));
        assert_eq!(Target::read("url", "/api/orders/7?a=1"), orders);
        assert_eq!(Target::read("url", " https://toll.example/api/orders/7?a=1#top "), orders);
        let nested = "/api/fetch?from=http://x/y";
        assert_eq!(Target::read("url", nested), Ok(Target::Url(nested.into())));
        for bad in ["", "/", "/ops", "/apix", "https://toll.example", "/api/a b", "/api/é", "orders"] {
            assert_eq!(Target::read("url", bad), Err(BadTarget::NotBehindTheGateway), "{bad}");
        }
    }

    #[test]
    fn a_tag_is_any_text_without_a_comma() {
        assert_eq!(Target::read("tag", " Order-7 "), Ok(Target::Tag("Order-7".into())));
        assert_eq!(Target::read("tag", "a,b"), Err(BadTarget::BadTag));
        assert_eq!(Target::read("tag", ""), Err(BadTarget::BadTag));
        assert_eq!(Target::read("tag", &"x".repeat(LONGEST + 1)), Err(BadTarget::TooLong));
        assert_eq!(Target::read("all", "x"), Err(BadTarget::UnknownKind));
    }
}
