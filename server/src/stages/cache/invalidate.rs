//! What an unsafe method changes (RFC 9111 §4.4): the target, and what `Location` and `Content-Location` name, where
//! that is of the same origin.

use std::sync::Arc;

use http::{HeaderMap, StatusCode, Uri, header};

use super::key::UriKey;
use crate::catalog::{Catalog, Route};
use crate::stages::route::Routed;

/// Where an unsafe request went.
pub struct Changes {
    route: Arc<Route>,
    catalog: Arc<Catalog>,
    /// Path and query as the client wrote them, and what precedes the path that the upstream sees.
    path: String,
    query: Option<String>,
    prefix: String,
    host: String,
}

impl Changes {
    pub fn by(routed: &Routed) -> Changes {
        let uri = routed.arrived.request.uri();
        let path = uri.path();
        // A stripped route answers its own path as "/".
        let prefix = path.strip_suffix(routed.upstream_path.as_str()).unwrap_or(path);
        let host = routed.arrived.request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| uri.authority().map(http::uri::Authority::as_str));
        Changes {
            route: routed.route.clone(),
            catalog: routed.catalog.clone(),
            path: path.to_owned(),
            query: uri.query().map(str::to_owned),
            prefix: prefix.to_owned(),
            host: host.unwrap_or_default().to_ascii_lowercase(),
        }
    }

    /// All of it, if the method succeeded; an error changes nothing.
    pub fn uris(&self, status: StatusCode, answer: &HeaderMap) -> Vec<UriKey> {
        if !status.is_success() && !status.is_redirection() {
            return Vec::new();
        }
        let target = match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        };
        let mut uris = vec![UriKey::at(&self.route, &target)];
        for name in [header::LOCATION, header::CONTENT_LOCATION] {
            let named = answer.get_all(name).iter().filter_map(|value| value.to_str().ok());
            uris.extend(named.flat_map(|reference| self.targets(reference)).filter_map(|t| self.key(&t)));
        }
        uris
    }

    /// An upstream that does not know of the gateway names its own paths; another writes what its clients shall see.
    /// Both are forgotten: that costs a fetch, a stale answer would cost more.
    fn targets(&self, reference: &str) -> Vec<String> {
        let reference = reference.split('#').next().unwrap_or_default();
        let Some(target) = self.of_this_origin(reference) else { return Vec::new() };
        let resolved = resolve(&self.path, &target);
        let behind = self.route.upstream.targets.iter().filter_map(|target| {
            let rest = resolved.strip_prefix(target.base.as_str())?;
            Some(format!("{}{rest}", self.prefix))
        });
        let mut targets: Vec<String> = behind.collect();
        targets.push(resolved);
        targets.dedup();
        targets
    }

    /// Path and query of a reference, or what it is relative to its base; `None` for another origin.
    fn of_this_origin(&self, reference: &str) -> Option<String> {
        let absolute = match reference.strip_prefix("//") {
            Some(_) => format!("http:{reference}"),
            None => reference.to_owned(),
        };
        let has_scheme = absolute.split(['/', '?']).next().is_some_and(|first| first.contains(':'));
        if !has_scheme {
            return Some(absolute);
        }
        let uri: Uri = absolute.parse().ok()?;
        let authority = uri.authority()?.as_str().to_ascii_lowercase();
        let is_ours = authority == self.host
            || self.route.upstream.targets.iter().any(|target| authority == target.authority.as_str());
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        is_ours.then(|| target.to_owned())
    }

    fn key(&self, target: &str) -> Option<UriKey> {
        let path = target.split('?').next().unwrap_or_default();
        let (route, _) = self.catalog.route(path.strip_prefix("/api")?)?;
        Some(UriKey::at(route, target))
    }
}

/// RFC 3986 §5.2 for references without an authority.
fn resolve(base: &str, reference: &str) -> String {
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let joined = match path {
        "" => base.to_owned(),
        _ if path.starts_with('/') => without_dots(path),
        _ => without_dots(&format!("{}/{path}", &base[..base.rfind('/').unwrap_or(0)])),
    };
    query.map_or_else(|| joined.clone(), |query| format!("{joined}?{query}"))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(segment),
        }
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_against_the_target_rfc_3986_5_2() {
        for (reference, expected) in [
            ("7", "/api/orders/7"),
            ("/x/7", "/x/7"),
            ("./7", "/api/orders/7"),
            ("../7", "/api/7"),
            ("../../../7", "/7"),
            ("7/", "/api/orders/7/"),
            ("..", "/api/"),
            ("", "/api/orders/new"),
            ("?a=/../b", "/api/orders/new?a=/../b"),
            ("7?a=1", "/api/orders/7?a=1"),
        ] {
            assert_eq!(resolve("/api/orders/new", reference), expected, "{reference}");
        }
    }
}
