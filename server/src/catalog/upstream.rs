//! An upstream: what the catalog says of it, and what this node has seen of its targets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::uri::{Authority, Scheme};
use http::{HeaderName, HeaderValue, Uri};

use super::tls::Tls;

/// How long a target that refused a connection is passed over.
const PASSED_OVER: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Upstream {
    pub id: i64,
    pub name: String,
    pub targets: Vec<Arc<Target>>,
    pub connect_timeout: Duration,
    /// To the response head.
    pub timeout: Duration,
    /// Path that each target is asked for.
    pub health: Option<String>,
    /// Set on the way up. Values are secrets, and marked sensitive.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub breaker: BreakerSettings,
    next: AtomicUsize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    pub failures: i32,
    pub window: Duration,
    pub open_for: Duration,
    pub max_in_flight: usize,
}

/// How a target is spoken to: what its url begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `http://`: HTTP/1.1.
    Http1,
    /// `h2c://`: HTTP/2 in the clear, without being asked (RFC 9113 §3.3).
    Http2,
    /// `https://`: HTTP/2 or HTTP/1.1, as the TLS handshake finds out.
    Tls,
}

/// One url of an upstream.
#[derive(Debug)]
pub struct Target {
    /// Of this node; another catalog with the same url and certificates has the same target.
    pub id: u64,
    pub url: String,
    pub protocol: Protocol,
    pub tls: Option<Arc<Tls>>,
    pub scheme: Scheme,
    pub authority: Authority,
    /// The authority as a `Host` field, without the usual port.
    pub host: HeaderValue,
    /// Where a connection leads to.
    pub dial: Uri,
    /// Path that precedes every request's, without a trailing slash.
    pub base: String,
    in_flight: AtomicUsize,
    healthy: AtomicBool,
    /// Milliseconds since `epoch` until which a refused connection is remembered.
    passed_over_until: AtomicI64,
    epoch: Instant,
}

#[derive(Debug, thiserror::Error)]
#[error("{url:?} is no url of an upstream: http, https or h2c, a host, and perhaps a path")]
pub struct BadUrl {
    url: String,
}

impl Target {
    /// `tls` is for `https://` urls, which cannot be called without.
    pub fn parse(url: &str, tls: Option<&Arc<Tls>>) -> Result<Target, BadUrl> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let bad = || BadUrl { url: url.to_owned() };
        let uri: Uri = url.parse().map_err(|_| bad())?;
        let authority = uri.authority().cloned().ok_or_else(bad)?;
        let (protocol, scheme, usual_port) = match uri.scheme_str() {
            Some("http") => (Protocol::Http1, Scheme::HTTP, ":80"),
            Some("h2c") => (Protocol::Http2, Scheme::HTTP, ":80"),
            Some("https") => (Protocol::Tls, Scheme::HTTPS, ":443"),
            _ => return Err(bad()),
        };
        if uri.query().is_some() {
            return Err(bad());
        }
        let host = match authority.as_str().strip_suffix(usual_port) {
            // What ends in the port of an address in brackets, or else has no other colon.
            Some(host) if host.ends_with(']') || !host.contains(':') => host,
            _ => authority.as_str(),
        };
        let dial = Uri::builder().scheme(scheme.clone()).authority(authority.clone()).path_and_query("/");
        Ok(Target {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            url: url.to_owned(),
            protocol,
            tls: tls.filter(|_| protocol == Protocol::Tls).cloned(),
            scheme,
            host: HeaderValue::from_str(host).map_err(|_| bad())?,
            dial: dial.build().map_err(|_| bad())?,
            authority,
            base: uri.path().trim_end_matches('/').to_owned(),
            in_flight: AtomicUsize::new(0),
            healthy: AtomicBool::new(true),
            passed_over_until: AtomicI64::new(0),
            epoch: Instant::now(),
        })
    }

    /// Whether it is called as `url` with `tls` would be: then what is known of it, and its connections, are kept.
    pub fn is_still(&self, url: &str, tls: Option<&Arc<Tls>>) -> bool {
        let same_tls = self.protocol != Protocol::Tls || self.tls.as_ref() == tls;
        self.url == url && same_tls
    }

    /// Counts a call until the guard is dropped.
    pub fn enter(self: &Arc<Self>) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight { target: self.clone() }
    }

    /// What the health check says now; returns what it said before.
    pub fn set_healthy(&self, healthy: bool) -> bool {
        self.healthy.swap(healthy, Ordering::Relaxed)
    }

    /// It refused a connection: others first, for a while.
    pub fn pass_over(&self) {
        self.passed_over_until.store(self.now() + PASSED_OVER.as_millis() as i64, Ordering::Relaxed);
    }

    pub fn is_usable(&self) -> bool {
        self.healthy.load(Ordering::Relaxed) && self.passed_over_until.load(Ordering::Relaxed) <= self.now()
    }

    fn now(&self) -> i64 {
        self.epoch.elapsed().as_millis() as i64
    }
}

/// A call on its way to a target.
#[derive(Debug)]
pub struct InFlight {
    target: Arc<Target>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.target.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Upstream {
    #[allow(clippy::too_many_arguments, reason = "a row of the catalog has as many columns")]
    pub fn new(
        id: i64,
        name: String,
        targets: Vec<Arc<Target>>,
        connect_timeout: Duration,
        timeout: Duration,
        health: Option<String>,
        headers: Vec<(HeaderName, HeaderValue)>,
        breaker: BreakerSettings,
    ) -> Upstream {
        let next = AtomicUsize::new(0);
        Upstream { id, name, targets, connect_timeout, timeout, health, headers, breaker, next }
    }

    /// The usable target with the fewest calls in flight, in turn among equals, but not `except`. If none is usable,
    /// any: an upstream is not given up because a health check says so.
    pub fn pick(&self, except: Option<&Target>) -> Option<Arc<Target>> {
        let count = self.targets.len();
        let first = if count > 1 { self.next.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let in_turn = || (0..count).map(|n| &self.targets[(first + n) % count]);
        let candidates = || in_turn().filter(|target| except.is_none_or(|except| except.url != target.url));
        let load = |target: &&Arc<Target>| target.in_flight.load(Ordering::Relaxed);
        candidates()
            .filter(|target| target.is_usable())
            .min_by_key(load)
            .or_else(|| candidates().min_by_key(load))
            .cloned()
    }

    #[cfg(test)]
    pub fn for_tests() -> Upstream {
        let target = |url| Arc::new(Target::parse(url, None).expect("a url"));
        Upstream::new(
            1,
            "orders".into(),
            vec![target("http://127.0.0.1:1"), target("http://127.0.0.1:2/base/")],
            Duration::from_secs(1),
            Duration::from_secs(1),
            None,
            vec![],
            BreakerSettings {
                failures: 5,
                window: Duration::from_secs(10),
                open_for: Duration::from_secs(5),
                max_in_flight: 1000,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_with_the_fewest_calls_is_picked_and_a_dead_one_is_passed_over() {
        let upstream = Upstream::for_tests();
        let first = upstream.pick(None).expect("two targets");
        let _call = first.enter();
        let second = upstream.pick(None).expect("two targets");
        assert_ne!(first.url, second.url);
        assert_eq!(upstream.pick(None).expect("two targets").url, second.url);
        second.pass_over();
        assert_eq!(upstream.pick(None).expect("two targets").url, first.url);
        first.set_healthy(false);
        assert!(upstream.pick(None).is_some(), "none is usable, so any is tried");
        assert_eq!(upstream.pick(Some(&first)).expect("another").url, second.url);
    }

    #[test]
    fn a_base_path_loses_its_trailing_slash_and_a_query_is_refused() {
        let target = |url| Target::parse(url, None);
        assert_eq!(target("http://h:1/base/").expect("a url").base, "/base");
        assert_eq!(target("http://h:1").expect("a url").base, "");
        for bad in ["", "h:1", "ftp://h", "http://h?a=1", "/x"] {
            assert!(target(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_usual_port_is_not_in_the_host_field() {
        let host = |url| Target::parse(url, None).expect("a url").host;
        assert_eq!(host("http://h:80"), "h");
        assert_eq!(host("http://h:8080"), "h:8080");
        assert_eq!(host("https://h:80"), "h:80");
        assert_eq!(host("https://[::1]:443/x"), "[::1]");
        assert_eq!(host("http://[::80]"), "[::80]");
        assert_eq!(host("h2c://h"), "h");
    }
}
