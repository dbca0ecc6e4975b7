//! The admin listener: `/metrics`, `/healthz` and `/readyz`, on an address that is not the public one.

use std::io;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures::future::try_join_all;
use serde_json::json;
use tokio::net::TcpListener;

use super::metrics::{self, Probe};
use crate::listener::Bound;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves until dropped.
pub async fn serve(bound: Bound, probe: Probe) -> io::Result<()> {
    let all = bound.sockets.into_iter().map(|socket| {
        let probe = probe.clone();
        async move { axum::serve(TcpListener::from_std(socket)?, router(probe)).await }
    });
    try_join_all(all).await.map(drop)
}

fn router(probe: Probe) -> Router {
    Router::new()
        .route("/metrics", get(scrape))
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .with_state(probe)
}

async fn scrape(State(probe): State<Probe>) -> Response {
    match metrics::encode(&probe) {
        Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "metrics cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// The process lives: it answers.
async fn healthz() -> &'static str {
    "ok\n"
}

/// 200, or 503 with a reason for each part that is not ready.
async fn readyz(State(probe): State<Probe>) -> Response {
    let unready = probe().unready;
    let status = if unready.is_empty() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({ "ready": unready.is_empty(), "because": unready }))).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::super::metrics::{Unready, Vitals};
    use super::*;

    async fn get(path: &str, unready: Vec<Unready>) -> (StatusCode, String) {
        let probe: Probe = Arc::new(move || Vitals { unready: unready.clone(), ..Vitals::default() });
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let response = router(probe).oneshot(request).await.expect("an answer");
        let status = response.status();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn readiness_says_why_not_while_the_process_lives() {
        let away = || vec![Unready { part: "database", why: "connection refused".to_owned() }];
        assert_eq!(get("/healthz", away()).await, (StatusCode::OK, "ok\n".to_owned()));
        let (status, body) = get("/readyz", away()).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        let body: serde_json::Value = serde_json::from_str(&body).expect("json");
        assert_eq!(
            body,
            json!({"ready": false, "because": [{"part": "database", "why": "connection refused"}]})
        );
        assert_eq!(get("/readyz", vec![]).await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn metrics_are_served_and_nothing_else_is() {
        let (status, body) = get("/metrics", vec![]).await;
        assert_eq!(status, StatusCode::OK);
        assert!(body.contains("toll_arrivals_total 0"), "{body}");
        assert_eq!(get("/api/orders", vec![]).await.0, StatusCode::NOT_FOUND);
    }
}
