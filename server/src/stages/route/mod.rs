//! Route: is there such a place, and may this be sent there?
//!
//! Needs an arrival. Gives `Routed`. Refuses what is malformed, leads nowhere, is switched off, or is too large by its
//! own account. Touches nothing but the catalog in memory.

mod chain;
mod cors;
mod framing;
mod path;

use std::sync::Arc;

use app::domain::numbers::count;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::{HeaderMap, Method, Request, header};
use tower::Layer;

use crate::body::known_length;
use crate::catalog::{Catalog, Route};
use crate::gateway::Gateway;
use crate::listener::peer::Peer;
use crate::pipeline::{Answer, Arrived, Serve};
use crate::refusal::Refusal;
pub use framing::check as check_framing;

/// Proof that a request leads somewhere. Only this stage makes one.
pub struct Routed {
    pub arrived: Arrived,
    pub route: Arc<Route>,
    /// The snapshot that judged the request; later stages judge by the same.
    pub catalog: Arc<Catalog>,
    /// The path that the upstream is to see, byte for byte as it came.
    pub upstream_path: String,
    _proof: (),
}

pub fn layer(gateway: &Arc<Gateway>) -> RouteLayer {
    RouteLayer { gateway: gateway.clone() }
}

pub struct RouteLayer {
    gateway: Arc<Gateway>,
}

impl<S> Layer<S> for RouteLayer {
    type Service = RouteStage<S>;

    fn layer(&self, inner: S) -> RouteStage<S> {
        RouteStage { gateway: self.gateway.clone(), inner }
    }
}

pub struct RouteStage<S> {
    gateway: Arc<Gateway>,
    inner: S,
}

impl<S: Serve<Routed>> Serve<Arrived> for RouteStage<S> {
    async fn serve(&self, mut arrived: Arrived) -> Answer {
        arrived.entry.at(Stage::Route);
        let catalog = self.gateway.catalog.now().clone();
        arrived.peer.address = chain::client_address(
            &arrived.peer,
            arrived.request.headers(),
            &self.gateway.settings.trusted_proxies,
        );
        arrived.entry.record.address = arrived.peer.address.to_string();
        let (route, upstream_path) = match decide(&arrived.request, &arrived.peer, &catalog) {
            Ok(decided) => decided,
            Err((refusal, route)) => {
                let route = route.as_deref();
                arrived.entry.record.route = route.map_or(0, |route| route.id);
                let preflight =
                    (refusal.outcome == Outcome::Preflight).then(|| arrived.request.headers().clone());
                let origin = cors::origin(arrived.request.headers());
                let mut answer = refusal.answer(arrived.entry);
                if let Some(route) = route {
                    if let Some(asked) = preflight {
                        cors::preflight(route, &asked, answer.response.headers_mut());
                    } else {
                        cors::expose(route, origin.as_ref(), answer.response.headers_mut());
                    }
                }
                return answer;
            }
        };
        arrived.entry.record.route = route.id;
        let origin = cors::origin(arrived.request.headers());
        let routed = Routed { arrived, route: route.clone(), catalog, upstream_path, _proof: () };
        let mut answer = self.inner.serve(routed).await;
        cors::expose(&route, origin.as_ref(), answer.response.headers_mut());
        answer
    }
}

type Decided = (Arc<Route>, String);

/// Framing and `Host`, path, route, preflight, method, length: in this order, so that 404 precedes 401 and 405.
fn decide<B: http_body::Body>(
    request: &Request<B>,
    peer: &Peer,
    catalog: &Catalog,
) -> Result<Decided, (Refusal, Option<Arc<Route>>)> {
    let refuse = |outcome, detail: &'static str| Refusal::new(Stage::Route, outcome, detail);
    framing::check(request, peer).map_err(|(outcome, why)| (refuse(outcome, why), None))?;
    path::check(request.uri()).map_err(|why| (refuse(Outcome::BadPath, why), None))?;

    let below_api = request.uri().path().strip_prefix("/api").unwrap_or_default();
    let (route, rest) = catalog
        .route(below_api)
        .ok_or_else(|| (refuse(Outcome::NoRoute, "no route answers this path"), None))?;
    let on_route = |refusal: Refusal| (refusal, Some(route.clone()));

    if chain::came_through_here(request.headers()) {
        let detail = "this request has been through this gateway before; an upstream url leads back here";
        return Err(on_route(refuse(Outcome::LoopDetected, detail)));
    }
    if route.off {
        let detail = "this route is switched off for the time being";
        return Err(on_route(refuse(Outcome::RouteOff, detail).retry_after(60)));
    }
    if cors::is_preflight(route, request) {
        return Err(on_route(refuse(Outcome::Preflight, "")));
    }
    // RFC 9110 §7.6.2: it has come as far as it may go.
    let has_arrived = request.method() == Method::OPTIONS
        && single(request.headers(), &header::MAX_FORWARDS).is_some_and(|left| left.trim() == "0");
    if !route.allows(request.method()) || has_arrived {
        let detail = "this route does not take this method";
        return Err(on_route(refuse(Outcome::MethodNotAllowed, detail).allow(&route.methods_text())));
    }
    if let (Some(limit), Some(length)) = (route.body_limit, known_length(request.body()))
        && length > limit
    {
        let detail = format!("the body is {} long; this route takes {limit}", count(length, "byte"));
        return Err(on_route(Refusal::new(Stage::Route, Outcome::BodyTooLarge, detail)));
    }
    let upstream_path = match (route.strip, rest) {
        (false, _) => below_api,
        (true, "") => "/",
        (true, rest) => rest,
    };
    Ok((route.clone(), upstream_path.to_owned()))
}

/// `text` of a header that may stand once.
pub(crate) fn single<'h>(headers: &'h HeaderMap, name: &header::HeaderName) -> Option<&'h str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::listener::peer::Connection;

    fn judge(target: &str) -> Outcome {
        let request =
            Request::builder().uri(target).header("host", "toll.example").body(crate::body::empty());
        let peer = Connection::new(SocketAddr::from(([127, 0, 0, 1], 1)), false).request();
        match decide(&request.expect("a request"), &peer, &Catalog::default()) {
            Ok(_) => Outcome::Forwarded,
            Err((refusal, _)) => refusal.outcome,
        }
    }

    #[test]
    fn a_bad_path_is_named_before_the_missing_route() {
        assert_eq!(judge("/api/nowhere/../x"), Outcome::BadPath);
        assert_eq!(judge("/api/nowhere"), Outcome::NoRoute);
        assert_eq!(judge("/api"), Outcome::NoRoute);
    }
}
