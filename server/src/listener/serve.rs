//! One port, two surfaces: the gateway on `/api`, the portal on every other path.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::ConnectInfo;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tower::ServiceExt;

use super::peer::Peer;
use crate::body::{self, Body, BodyError};
use crate::gateway::Gateway;
use crate::ledger::recorded::Recorded;
use crate::pipeline::{Arrived, Serve};

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
        match &self.surface {
            Surface::Both(_) | Surface::Gateway if is_for_gateway(&request) => {
                // One allocation instead of moving a large future about.
                Box::pin(self.pipeline.handle(request, peer)).await
            }
            _ if request.uri().path() == "/healthz" => Response::new(body::full("ok\n")),
            Surface::Both(portal) | Surface::Portal(portal) => {
                self.portal(portal.clone(), request, peer).await
            }
            Surface::Gateway => {
                let mut response = Response::new(body::full("The portal has an address of its own.\n"));
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
        }
    }

    async fn portal(
        &self,
        portal: axum::Router,
        mut request: Request<Incoming>,
        peer: Peer,
    ) -> Response<Body> {
        request.extensions_mut().insert(ConnectInfo(peer.connection.address));
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
                let mut response = Response::new(body::full("Something went wrong here.\n"));
                *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                response
            }
        }
    }
}

/// `CONNECT` has no path; the route stage refuses it in the books.
fn is_for_gateway<B>(request: &Request<B>) -> bool {
    let path = request.uri().path();
    path == "/api" || path.starts_with("/api/") || request.method() == Method::CONNECT
}
