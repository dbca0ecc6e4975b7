//! Proxy: the upstream.
//!
//! Needs `Pass`. Answers what the upstream answers, streaming both ways, or says why there was no answer. Touches the
//! upstream, over connections that belong to this gateway thread.

mod connect;
mod cookies;
mod downstream;
mod exchange;
mod forwarded;
pub mod health;
mod interim;
mod judge;
mod pool;
mod request;
mod targets;
mod trailers;
mod tunnel;
mod upload;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version, header};
use hyper::upgrade::OnUpgrade;

use crate::body;
use crate::catalog::Route;
use crate::gateway::Gateway;
use crate::ledger::Entry;
use crate::ledger::record::End;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::breaker::{Call, Failure, Pass};
use downstream::Held;
use exchange::Broken;
use interim::Client;
use pool::Pools;
pub use request::remove_hop_by_hop;
use targets::{Answered, Targets};
pub use tunnel::{Moved, Tunnel};
use upload::Upload;

/// Marks an answer whose end is the end of the connection: nobody can tell whether it is whole.
#[derive(Clone, Copy, Debug)]
pub struct EndsByClose;

pub fn service(gateway: &Arc<Gateway>) -> ProxyStage {
    ProxyStage { gateway: gateway.clone(), pools: Pools::default() }
}

pub struct ProxyStage {
    gateway: Arc<Gateway>,
    pools: Pools,
}

/// What a request asked for that concerns its answer.
struct Asked {
    method: Method,
    /// The client's side of an upgrade, and the protocols it would change to.
    upgrade: Option<(OnUpgrade, HeaderValue)>,
    /// How long the upstream may pause within its body.
    idle: Duration,
}

impl Serve<Pass> for ProxyStage {
    async fn serve(&self, pass: Pass) -> Answer {
        let Pass { miss, permit, .. } = pass;
        let identified = miss.admitted.identified;
        let routed = identified.routed;
        let (route, mut entry) = (routed.route, routed.arrived.entry);
        entry.at(Stage::Proxy);
        let upstream = route.upstream.clone();
        let settings = &self.gateway.settings;

        let mut request = routed.arrived.request;
        let upgrade = protocols(request.headers());
        let upgrade = upgrade.map(|protocols| (hyper::upgrade::on(&mut request), protocols));
        let takes_trailers = takes_trailers(request.headers());
        let (mut parts, body) = request.into_parts();
        let client = Client::of(&routed.arrived.peer, parts.version);
        let trusted = &settings.trusted_proxies;
        request::prepare(
            &mut parts,
            &routed.arrived.peer,
            trusted,
            &entry,
            &route,
            identified.caller.as_ref(),
        );
        connection_fields(&mut parts.headers, upgrade.is_some(), takes_trailers);

        let limits = body::Limits { size: route.body_limit, idle: settings.body_idle };
        let upload = match Upload::prepare(body, limits).await {
            Ok(upload) => upload,
            Err(error) => return upload::refuse(&error, &route, &entry).answer(entry),
        };
        upload.describe(&mut parts.headers);
        let mut call = match permit.ready(&self.gateway.breakers).await {
            Ok(call) => call,
            Err(refusal) => return refusal.answer(entry),
        };
        let head = request::Head { parts, path: routed.upstream_path };
        let only_http1 = upgrade.is_some();
        let targets = Targets { pools: &self.pools, upstream: &upstream, head: &head, only_http1, client };
        let (result, upload) = targets.ask(upload, &mut entry).await;
        entry.record.bytes_in = upload.bytes();
        match result {
            Ok(answered) => {
                let asked = Asked { method: head.parts.method, upgrade, idle: settings.upstream_idle };
                answer(answered, call, upload, asked, entry)
            }
            Err(broken) => refuse(broken, &upload, &mut call, &route, entry),
        }
    }
}

/// The upstream's answer on its way down.
fn answer(answered: Answered, mut call: Call, upload: Upload, asked: Asked, mut entry: Entry) -> Answer {
    let Answered { mut response, lease, in_flight } = answered;
    let status = response.status();
    let upstream_side =
        (status == StatusCode::SWITCHING_PROTOCOLS).then(|| hyper::upgrade::on(&mut response));
    let (mut parts, body) = response.into_parts();
    if let Some(fault) = judge::fault(&parts, asked.upgrade.as_ref().map(|(_, protocols)| protocols)) {
        tracing::debug!(fault, target = entry.record.target, "an answer is not passed on");
        call.failed(Failure::Broken);
        let detail = "the upstream's answer is not one of HTTP";
        // Whatever it said, the books know five classes.
        let said = if status.as_u16() < 600 { status.as_u16() } else { 0 };
        return Refusal::new(Stage::Proxy, Outcome::UpstreamBroken, detail).reached(said).answer(entry);
    }
    let failure = Failure::of_status(status.as_u16());
    match failure {
        Some(failure) => call.failed(failure),
        None => call.succeeded(),
    }
    let by_close = ends_by_close(&parts, &asked.method);
    downstream::tidy(&mut parts);
    parts.version = Version::HTTP_11;
    if by_close {
        parts.extensions.insert(EndsByClose);
    }
    entry.record.timed = upstream_side.is_none() && !downstream::is_event_stream(&parts.headers);
    let mut end = End {
        stage: Stage::Proxy,
        outcome: Outcome::Forwarded,
        status: status.as_u16(),
        reached: true,
        upstream_status: status.as_u16(),
    };
    let (Some(upstream_side), Some((client_side, _))) = (upstream_side, asked.upgrade) else {
        let held = Held { call, in_flight, upload, lease, has_failed: failure.is_some() };
        let body = downstream::body(body, held, asked.idle);
        return Answer { response: Response::from_parts(parts, body), entry, end };
    };
    end.outcome = Outcome::Upgraded;
    lease.upgraded();
    let tunnel = Tunnel::between(client_side, upstream_side, (call, in_flight));
    parts.extensions.insert(tunnel);
    Answer { response: Response::from_parts(parts, body::empty()), entry, end }
}

/// The protocols that the client would change to (RFC 9110 §7.8). HTTP/2 is none of them: behind Toll's back requests
/// would reach the upstream that nobody judges.
fn protocols(headers: &HeaderMap) -> Option<HeaderValue> {
    let protocols = headers.get(header::UPGRADE).filter(|_| request::wants_upgrade(headers))?;
    let mut names = protocols.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    (!names.any(|name| name.eq_ignore_ascii_case(b"h2c") || name.eq_ignore_ascii_case(b"h2")))
        .then(|| protocols.clone())
}

/// RFC 9110 §10.1.4
fn takes_trailers(headers: &HeaderMap) -> bool {
    headers.get_all(header::TE).iter().any(|value| {
        value
            .as_bytes()
            .split(|byte| *byte == b',')
            .any(|name| name.trim_ascii().eq_ignore_ascii_case(b"trailers"))
    })
}

/// Fields between Toll and the upstream that say again what the client said to Toll.
fn connection_fields(headers: &mut HeaderMap, upgrades: bool, takes_trailers: bool) {
    if !upgrades && headers.remove(header::UPGRADE).is_some() {
        headers.remove(header::CONNECTION);
    }
    if takes_trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.append(header::CONNECTION, HeaderValue::from_static("te"));
    }
}

/// RFC 9112 §6.3, last rule.
fn ends_by_close(parts: &http::response::Parts, method: &Method) -> bool {
    parts.version <= Version::HTTP_11
        && method != Method::HEAD
        && !parts.headers.contains_key(header::CONTENT_LENGTH)
        && !parts.headers.contains_key(header::TRANSFER_ENCODING)
        && !matches!(parts.status.as_u16(), 101 | 204 | 304)
}

fn refuse(broken: Broken, upload: &Upload, call: &mut Call, route: &Route, entry: Entry) -> Answer {
    // A client that broke off, or stalled, is no fault of the upstream's.
    if let Some(error) = upload.error() {
        return upload::refuse(&error, route, &entry).answer(entry);
    }
    let (outcome, failure, detail) = match broken {
        Broken::Short if !entry.reached() => {
            // Toll's own fault: nothing is held against the upstream.
            let detail = "there is no connection left here to ask the upstream over";
            return Refusal::new(Stage::Proxy, Outcome::Internal, detail).answer(entry);
        }
        Broken::Unreachable if !entry.reached() => {
            (Outcome::UpstreamUnreachable, Failure::Unreachable, "the upstream took no connection")
        }
        Broken::TimedOut => {
            (Outcome::UpstreamTimeout, Failure::TimedOut, "the upstream did not answer in time")
        }
        // Some target had it, and none has answered.
        Broken::Short | Broken::Unreachable | Broken::Refused | Broken::Stale | Broken::Off => {
            (Outcome::UpstreamBroken, Failure::Broken, "the upstream's answer could not be read")
        }
    };
    call.failed(failure);
    let refusal = Refusal::new(Stage::Proxy, outcome, detail);
    let refusal = if entry.reached() { refusal.reached(0) } else { refusal };
    refusal.answer(entry)
}
