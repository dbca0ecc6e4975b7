//! Proxy: the upstream.
//!
//! Needs `Pass`. Answers what the upstream answers, streaming both ways, or says why there was no answer. Touches the
//! upstream, over connections that belong to this gateway thread.

mod client;
mod cookies;
mod downstream;
mod exchange;
mod forwarded;
pub mod health;
mod request;
mod trailers;
mod tunnel;
mod upload;

use std::sync::Arc;
use std::time::Duration;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::{Method, Request, Response, StatusCode, Version, header};
use hyper::body::Incoming;

use crate::body::Body;
use crate::catalog::{Target, Upstream};
use crate::gateway::Gateway;
use crate::ledger::Entry;
use crate::ledger::record::End;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::breaker::{Call, Failure, Pass};
use client::Clients;
use exchange::{Broken, Exchange};
pub use request::remove_hop_by_hop;
pub use tunnel::Tunnel;
use upload::Upload;

/// Marks an answer whose end is the end of the connection: nobody can tell whether it is whole.
#[derive(Clone, Copy, Debug)]
pub struct EndsByClose;

pub fn service(gateway: &Arc<Gateway>) -> ProxyStage {
    ProxyStage { gateway: gateway.clone(), clients: Clients::default() }
}

pub struct ProxyStage {
    gateway: Arc<Gateway>,
    clients: Clients,
}

impl Serve<Pass> for ProxyStage {
    async fn serve(&self, pass: Pass) -> Answer {
        let Pass { miss, permit, .. } = pass;
        let identified = miss.admitted.identified;
        let routed = identified.routed;
        let (route, mut entry) = (routed.route, routed.arrived.entry);
        entry.at(Stage::Proxy);
        let upstream = route.upstream.clone();
        let idle = self.gateway.settings.body_idle;

        let mut request = routed.arrived.request;
        let wants_upgrade = request::wants_upgrade(request.headers());
        let client_side = wants_upgrade.then(|| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let trusted = &self.gateway.settings.trusted_proxies;
        request::prepare(
            &mut parts,
            &routed.arrived.peer,
            trusted,
            &entry,
            &route,
            identified.caller.as_ref(),
        );

        let limits = crate::body::Limits { size: route.body_limit, idle };
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
        let (result, upload) = self.try_targets(&head, upload, &upstream, &mut entry).await;
        entry.record.bytes_in = upload.bytes();
        match result {
            Ok((response, in_flight)) => {
                let tunnel = client_side.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS);
                let parts = (call, in_flight, upload);
                answer(response, parts, tunnel, entry, &head.parts.method, idle)
            }
            Err(broken) => refuse(broken, &upload, &mut call, &route, entry),
        }
    }
}

type Sent = (Response<Incoming>, crate::catalog::upstream::InFlight);

impl ProxyStage {
    /// Another target is tried once, if the first did not take the connection and the request is idempotent
    /// (RFC 9110 §9.2.2) and still at hand.
    async fn try_targets(
        &self,
        head: &request::Head,
        upload: Upload,
        upstream: &Upstream,
        entry: &mut Entry,
    ) -> (Result<Sent, Broken>, Upload) {
        let Some(target) = upstream.pick(None) else {
            return (Err(Broken::Unreachable), upload);
        };
        let second = upload.again().filter(|_| head.parts.method.is_idempotent());
        let (result, upload) = self.try_target(head, upload, upstream, &target, entry).await;
        if !matches!(result, Err(Broken::Unreachable)) {
            return (result, upload);
        }
        target.pass_over();
        match (second, upstream.pick(Some(&target))) {
            (Some(upload), Some(other)) => {
                let (result, upload) = self.try_target(head, upload, upstream, &other, entry).await;
                if matches!(result, Err(Broken::Unreachable)) {
                    other.pass_over();
                }
                (result, upload)
            }
            _ => (result, upload),
        }
    }

    async fn try_target(
        &self,
        head: &request::Head,
        mut upload: Upload,
        upstream: &Upstream,
        target: &Arc<Target>,
        entry: &mut Entry,
    ) -> (Result<Sent, Broken>, Upload) {
        let in_flight = target.enter();
        entry.record.target.clone_from(&target.url);
        let request: Request<Body> = head.to(target, upload.take_body());
        let exchange = Exchange {
            client: self.clients.with(upstream.connect_timeout),
            timeout: upstream.timeout,
            progress: upload.progress(),
        };
        let result = exchange.run(request, || entry.sent()).await;
        (result.map(|response| (response, in_flight)), upload)
    }
}

/// The upstream's answer on its way down.
fn answer(
    response: Response<Incoming>,
    (mut call, in_flight, upload): (Call, crate::catalog::upstream::InFlight, Upload),
    client_side: Option<hyper::upgrade::OnUpgrade>,
    mut entry: Entry,
    method: &Method,
    idle: Duration,
) -> Answer {
    let status = response.status();
    if status == StatusCode::SWITCHING_PROTOCOLS && client_side.is_none() {
        call.failed(Failure::Broken);
        let detail = "the upstream switched protocols without having been asked";
        return Refusal::new(Stage::Proxy, Outcome::UpstreamBroken, detail).reached(101).answer(entry);
    }
    match Failure::of_status(status.as_u16()) {
        Some(failure) => call.failed(failure),
        None => call.succeeded(),
    }
    let end = End {
        stage: Stage::Proxy,
        outcome: if client_side.is_some() { Outcome::Upgraded } else { Outcome::Forwarded },
        status: status.as_u16(),
        reached: true,
        upstream_status: status.as_u16(),
    };
    let mut response = response;
    let upstream_side = client_side.is_some().then(|| hyper::upgrade::on(&mut response));
    let (mut parts, body) = response.into_parts();
    let by_close = parts.version <= Version::HTTP_11
        && method != Method::HEAD
        && !parts.headers.contains_key(header::CONTENT_LENGTH)
        && !parts.headers.contains_key(header::TRANSFER_ENCODING)
        && !matches!(status.as_u16(), 204 | 304);
    downstream::tidy(&mut parts.headers, client_side.is_some());
    parts.version = Version::HTTP_11;
    if by_close {
        parts.extensions.insert(EndsByClose);
    }
    if downstream::is_event_stream(&parts.headers) || client_side.is_some() {
        entry.record.timed = false;
    }
    let body = downstream::body(body, call, in_flight, upload, idle);
    let mut response = Response::from_parts(parts, body);
    if let (Some(client), Some(upstream)) = (client_side, upstream_side) {
        response.extensions_mut().insert(Tunnel::between(client, upstream));
    }
    Answer { response, entry, end }
}

fn refuse(
    broken: Broken,
    upload: &Upload,
    call: &mut Call,
    route: &crate::catalog::Route,
    entry: Entry,
) -> Answer {
    // A client that broke off, or stalled, is no fault of the upstream's.
    if let Some(error) = upload.error() {
        return upload::refuse(&error, route, &entry).answer(entry);
    }
    let (outcome, failure, detail) = match broken {
        Broken::Unreachable => {
            (Outcome::UpstreamUnreachable, Failure::Unreachable, "the upstream took no connection")
        }
        Broken::TimedOut => {
            (Outcome::UpstreamTimeout, Failure::TimedOut, "the upstream did not answer in time")
        }
        Broken::Off => (Outcome::UpstreamBroken, Failure::Broken, "the upstream's answer could not be read"),
    };
    call.failed(failure);
    let refusal = Refusal::new(Stage::Proxy, outcome, detail);
    match broken {
        Broken::Unreachable => refusal.answer(entry),
        Broken::TimedOut | Broken::Off => refusal.reached(0).answer(entry),
    }
}
