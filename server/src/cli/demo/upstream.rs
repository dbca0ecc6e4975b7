//! The demo's upstreams, all of them in this process: one listener on loopback, and a port that takes no connection.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use rand::Rng;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// Billing has a bad time in each of these, long enough for its breaker to open and to try again.
const CYCLE: Duration = Duration::from_secs(300);
const BAD: std::ops::Range<u64> = 3..20;

pub struct Upstream {
    pub address: SocketAddr,
    /// Bound and never listened on: it refuses connections, and nobody else can have it meanwhile.
    closed: TcpSocket,
    server: AbortHandle,
}

impl Upstream {
    pub async fn start() -> anyhow::Result<Upstream> {
        let closed = TcpSocket::new_v4()?;
        closed.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router(Instant::now())).await {
                tracing::error!(%error, "the demo's upstream ended");
            }
        });
        Ok(Upstream { address, closed, server: server.abort_handle() })
    }

    pub fn closed(&self) -> std::io::Result<SocketAddr> {
        self.closed.local_addr()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A route's own path is answered as what is below it is: it is what a first request asks for.
fn router(began: Instant) -> Router {
    Router::new()
        .nest_service("/demo/orders", any(orders))
        .nest_service("/demo/billing", any(move || billing(began.elapsed())))
        .nest_service("/demo/search", any(search))
        .nest_service("/demo/reports", any(reports))
}

/// Worth caching.
async fn orders() -> Response {
    sleep(between(4, 25)).await;
    json("max-age=20", r#"{"order":4711,"state":"shipped"}"#)
}

async fn billing(up: Duration) -> Response {
    sleep(between(8, 60)).await;
    if is_bad(up) {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    json("no-store", r#"{"invoice":1001,"paid":true}"#)
}

/// May be stored, but nobody asks the same twice.
async fn search() -> Response {
    sleep(between(15, 90)).await;
    json("max-age=60", r#"{"hits":[]}"#)
}

async fn reports() -> Response {
    sleep(between(250, 1_500)).await;
    json("no-store", r#"{"rows":365}"#)
}

fn is_bad(up: Duration) -> bool {
    BAD.contains(&(up.as_secs() % CYCLE.as_secs()))
}

fn between(low: u64, high: u64) -> Duration {
    Duration::from_millis(rand::rng().random_range(low..high))
}

fn json(cache: &'static str, body: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, cache)], body).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn the_path_of_each_route_is_answered_and_so_is_what_is_below_it() {
        for name in ["orders", "billing", "search", "reports"] {
            for below in ["", "/", "/7", "/7/lines"] {
                let request = Request::get(format!("/demo/{name}{below}")).body(Body::empty());
                let answer =
                    router(Instant::now()).oneshot(request.expect("a request")).await.expect("infallible");
                assert_eq!(answer.status(), StatusCode::OK, "{name}{below}");
            }
        }
    }

    #[test]
    fn billing_is_bad_for_a_while_and_then_well_again_and_so_on() {
        let bad = |second| is_bad(Duration::from_secs(second));
        assert_eq!([0, 3, 19, 20, 299, 300, 303].map(bad), [false, true, true, false, false, false, true]);
    }
}
