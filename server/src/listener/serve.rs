//! One port, two surfaces: the gateway on `/api`, the portal on every other path.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::ConnectInfo;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tower::ServiceExt;

use super::arriving::Arriving;
use super::peer::Peer;
use super::wire::Fault;
use crate::body::{self, Body, BodyError};
use crate::gateway::Gateway;
use crate::ledger::recorded::Recorded;
use crate::pipeline::{Arrived, Serve};
use crate::refusal;
use crate::stages::route::check_framing;

/// What an address serves.
#[derive(Clone)]
pub enum Surface {
    Both(axum::Router),
    Gateway,
    Portal(axum::Router),
}

pub struct Serves<S> {
    surface: Surface,
    pipeline: Recorded<S>,
    pub(super) gateway: Arc<Gateway>,
}

impl<S: Serve<Arrived>> Serves<S> {
    pub fn new(surface: Surface, pipeline: Recorded<S>, gateway: Arc<Gateway>) -> Serves<S> {
        Serves { surface, pipeline, gateway }
    }

    pub async fn serve(&self, request: Request<Incoming>, peer: Peer) -> Response<Body> {
        let (connection, number) = (peer.connection.clone(), peer.number);
        let is_http_1 = request.version() < Version::HTTP_2;
        let (request, rest) = Arriving::of(request);
        let mut response = match peer.fault {
            Some(Fault::Unreadable { status, detail }) => self.unreadable(status, detail),
            _ => self.surface(request, peer).await,
        };
        if is_http_1 {
            let status = response.status();
            connection.answer(number, status, response.headers_mut());
        }
        if let Some(rest) = rest {
            rest.finish().await;
        }
        response
    }

    async fn surface(&self, request: Request<Arriving>, peer: Peer) -> Response<Body> {
        if is_for_gateway(&request) && !matches!(self.surface, Surface::Portal(_)) {
            // One allocation instead of moving a large future about.
            return Box::pin(self.pipeline.handle(request, peer)).await;
        }
        // The books are the gateway's; what is malformed elsewhere is counted with what cannot be read.
        if let Err((_, detail)) = check_framing(&request, &peer) {
            return self.unreadable(400, detail);
        }
        match (&self.surface, request.uri().path()) {
            (_, "*") => refusal::options_of_the_server(),
            (_, "/healthz") => plain(StatusCode::OK, "ok\n"),
            (Surface::Both(portal) | Surface::Portal(portal), _) => {
                self.portal(portal.clone(), request, peer).await
            }
            (Surface::Gateway, _) => plain(StatusCode::NOT_FOUND, "The portal has an address of its own.\n"),
        }
    }

    fn unreadable(&self, status: u16, detail: &'static str) -> Response<Body> {
        self.gateway.unreadable.fetch_add(1, Ordering::Relaxed);
        refusal::unreadable(status, detail)
    }

    async fn portal(
        &self,
        portal: axum::Router,
        mut request: Request<Arriving>,
        peer: Peer,
    ) -> Response<Body> {
        request.extensions_mut().insert(ConnectInfo(peer.connection.address));
        request.extensions_mut().insert(self.gateway.store.presence.clone());
        // On the background runtime: rendering a page never holds up a proxied request.
        let answer = self.gateway.store.background().spawn(async move {
            let response: Result<_, Infallible> = portal.oneshot(request.map(axum::body::Body::new)).await;
            response
        });
        match answer.await {
            Ok(Ok(response)) => {
                response.map(|body| body.map_err(|error| BodyError::Portal(error.to_string())).boxed_unsync())
            }
            Ok(Err(never)) => match never {},
            Err(error) => {
                tracing::error!(%error, "the portal failed");
                plain(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong here.\n")
            }
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(body::full(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// `CONNECT` has no path, and `*` is none: what of them makes no sense, the route stage refuses in the books.
fn is_for_gateway<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    let is_odd = match request.method() {
        &Method::CONNECT => true,
        method => path == "*" && method != Method::OPTIONS,
    };
    is_odd || path == "/api" || path.starts_with("/api/")
}
