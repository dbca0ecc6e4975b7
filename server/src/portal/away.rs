//! What the portal answers while the database is away: at once, and also to those who were waiting for it when it went.

use std::sync::Arc;

use app::error::{AGAIN_SECONDS, Error};
use app::{Away, shell};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use leptos::prelude::{IntoAny, view};

use super::{FUNCTIONS, Pages, provide_site};
use crate::presence::Presence;

/// The listener says with each request how the database is.
pub(super) async fn or_away(State(pages): State<Pages>, request: Request, next: Next) -> Response {
    let presence = request.extensions().get::<Arc<Presence>>().cloned().unwrap_or_default();
    let mut asked = Request::new(Body::empty());
    *asked.method_mut() = request.method().clone();
    *asked.uri_mut() = request.uri().clone();
    *asked.headers_mut() = request.headers().clone();
    let mut response = tokio::select! {
        biased;
        () = presence.gone() => away(&pages, asked).await,
        response = next.run(request) => response,
    };
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        presence.refused();
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(AGAIN_SECONDS));
    }
    response
}

/// A page for people, the error itself for scripts, a line for others.
async fn away(pages: &Pages, asked: Request) -> Response {
    let accepts = asked.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") {
        let assets = pages.site.assets.clone();
        let document = move || shell(&assets, || view! { <Away/> }).into_any();
        let page = leptos_axum::render_app_async_with_context(provide_site(pages), document);
        return page(asked).await.into_response();
    }
    let is_function = asked.uri().path().starts_with(FUNCTIONS);
    let (kind, text) = match serde_json::to_string(&Error::Away) {
        Ok(json) if is_function => ("application/json", json),
        _ => ("text/plain; charset=utf-8", format!("{}\n", Error::Away)),
    };
    (StatusCode::SERVICE_UNAVAILABLE, [(CONTENT_TYPE, kind)], text).into_response()
}
