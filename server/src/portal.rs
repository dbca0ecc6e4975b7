//! The portal as a router: pages, server functions, static files, and the headers that all of them carry.

mod away;

use std::path::PathBuf;
use std::sync::Arc;

use app::posted::{self, Posted};
use app::site::{Assets, Site};
use app::{App, sheets, shell};
use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use leptos::config::LeptosOptions;
use leptos::prelude::{AnyView, IntoAny, provide_context, view};
use leptos_axum::{LeptosRoutes, generate_route_list};
use sqlx::PgPool;
use tower::ServiceExt;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::services::ServeDir;

/// Where server functions live: never under `/api`, which is the gateway's.
const FUNCTIONS: &str = "/_fn/";
/// Files whose names carry a hash of their content never change.
const FOR_A_YEAR: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const FOR_AN_HOUR: HeaderValue = HeaderValue::from_static("public, max-age=3600");
/// Pages are a person's own.
const NOT_STORED: HeaderValue = HeaderValue::from_static("private, no-store");
/// For what is no page: nothing in it may run. Pages set a policy with a nonce.
const NOTHING_RUNS: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const NOT_BUILT: &str = "the site was not built: run `make build`, or name it with TOLL_SITE_DIR";

pub struct PortalState {
    pub db: PgPool,
    /// Where people reach Toll, such as `https://api.example.com`.
    pub public_url: String,
    /// What `make build` left in `target/site`.
    pub site_dir: PathBuf,
}

/// What the handlers need.
#[derive(Clone)]
struct Pages {
    options: LeptosOptions,
    site: Site,
    files: ServeDir,
}

impl axum::extract::FromRef<Pages> for LeptosOptions {
    fn from_ref(pages: &Pages) -> LeptosOptions {
        pages.options.clone()
    }
}

/// Everything that is not the gateway's. Without a built site it says so; the gateway works all the same.
pub fn router(state: PortalState) -> Router {
    let PortalState { db, public_url, site_dir } = state;
    let assets = match Assets::read(&site_dir) {
        Ok(assets) => assets,
        Err(error) => {
            tracing::warn!(folder = %site_dir.display(), %error, "no portal: {NOT_BUILT}");
            return Router::new()
                .fallback(async || (StatusCode::SERVICE_UNAVAILABLE, format!("{NOT_BUILT}\n")));
        }
    };
    let site = Site { db, public_url: public_url.trim_end_matches('/').to_owned(), assets };
    let options = LeptosOptions::builder()
        .output_name("toll")
        .site_root(site_dir.to_string_lossy().into_owned())
        .site_pkg_dir("pkg")
        .build();
    let files = ServeDir::new(&site_dir)
        .precompressed_br()
        .precompressed_gzip()
        .append_index_html_on_directories(false);
    let pages = Pages { options, site, files };

    let routes = generate_route_list(App);
    let context = provide_site(&pages);
    let document = document(&pages);
    let mut router = Router::new().leptos_routes_with_context(&pages, routes, context, document);
    for path in posted::PAGES {
        router = router.route(path, post(answered_page));
    }
    router
        .route(&format!("{}/{{*page}}", sheets::PREFIX), get(numbers))
        // Not around files, which need no database.
        .route_layer(middleware::from_fn_with_state(pages.clone(), away::or_away))
        .fallback(file_or_not_found)
        .layer(middleware::from_fn(same_origin_posts_only))
        .layer(compression())
        .layer(middleware::from_fn(common_headers))
        .with_state(pages)
}

fn provide_site(pages: &Pages) -> impl Fn() + Clone + Send + Sync + 'static {
    let site = pages.site.clone();
    move || provide_context(site.clone())
}

fn document(pages: &Pages) -> impl Fn() -> AnyView + Clone + Send + Sync + 'static {
    let assets = Arc::new(pages.site.assets.clone());
    move || shell(&assets, || view! { <App/> }).into_any()
}

/// Pages alone: static files are compressed already, and server functions answer with little.
fn compression() -> CompressionLayer<impl Predicate> {
    let no_functions = NotForContentType::new("application/json");
    CompressionLayer::new().gzip(true).compress_when(SizeAbove::new(1024).and(no_functions))
}

/// A page's numbers as CSV.
async fn numbers(State(pages): State<Pages>, request: Request) -> Response {
    sheets::answer(pages.site, request.into_parts().0).await
}

/// A built file, or the page that says that there is nothing.
async fn file_or_not_found(State(pages): State<Pages>, request: Request) -> Response {
    let hashed = request.uri().path().starts_with("/pkg/");
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read {
        let mut probe = http::Request::new(Body::empty());
        *probe.method_mut() = request.method().clone();
        *probe.uri_mut() = request.uri().clone();
        *probe.headers_mut() = request.headers().clone();
        let Ok(mut found) = pages.files.clone().oneshot(probe).await;
        if !matches!(
            found.status(),
            StatusCode::NOT_FOUND | StatusCode::MOVED_PERMANENTLY | StatusCode::TEMPORARY_REDIRECT
        ) {
            found.headers_mut().insert(CACHE_CONTROL, if hashed { FOR_A_YEAR } else { FOR_AN_HOUR });
            return found.map(Body::new);
        }
    }
    let page = leptos_axum::render_app_async_with_context(provide_site(&pages), document(&pages));
    page(request).await.into_response()
}

/// A page that answers a form by itself.
async fn answered_page(State(pages): State<Pages>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match Form::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(Form(fields)) => {
            let mut request = Request::from_parts(parts, Body::empty());
            request.extensions_mut().insert(Posted(fields));
            let page = leptos_axum::render_app_async_with_context(provide_site(&pages), document(&pages));
            page(request).await.into_response()
        }
        Err(refused) => refused.into_response(),
    }
}

/// Forms change things in the name of whoever's cookie comes along, so another site's page must not send
/// them. `Sec-Fetch-Site` says who asks, and older browsers send `Origin` with every POST; what sends neither is no
/// browser and carries nobody's cookie by accident.
async fn same_origin_posts_only(request: Request, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_function = request.uri().path().starts_with(FUNCTIONS);
    if is_read && !is_function {
        return next.run(request).await;
    }
    if is_function && request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], "server functions take POST only\n")
            .into_response();
    }
    if !is_same_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, "this came from another site's page\n").into_response();
    }
    next.run(request).await
}

fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    if let Some(from) = text(&HeaderName::from_static("sec-fetch-site")) {
        return from == "same-origin" || from == "none";
    }
    match text(&ORIGIN) {
        Some(origin) => {
            let host = origin.split_once("://").map(|(_, host)| host);
            host.is_some() && host == text(&HOST)
        }
        None => true,
    }
}

async fn common_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A server function that leads back takes what was wrong before out of the query, and leaves the question mark.
    let bare =
        headers.get(LOCATION).and_then(|to| HeaderValue::from_bytes(to.as_bytes().strip_suffix(b"?")?).ok());
    if let Some(bare) = bare {
        headers.insert(LOCATION, bare);
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(NOTHING_RUNS);
    headers.entry(CACHE_CONTROL).or_insert(NOT_STORED);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // Not `no-referrer`: a form that is posted without scripts finds its way back by it.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&'static str, &'static str)]) -> bool {
        let pairs = pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        is_same_origin(&pairs.collect())
    }

    #[test]
    fn only_our_own_pages_may_call_server_functions() {
        assert!(from(&[("sec-fetch-site", "same-origin"), ("origin", "null"), ("host", "a.example")]));
        assert!(from(&[("origin", "http://a.example:8080"), ("host", "a.example:8080")]));
        assert!(from(&[("host", "a.example")]));
        assert!(!from(&[
            ("sec-fetch-site", "cross-site"),
            ("origin", "http://a.example"),
            ("host", "a.example")
        ]));
        assert!(!from(&[("sec-fetch-site", "same-site"), ("host", "a.example")]));
        assert!(!from(&[("origin", "http://b.example"), ("host", "a.example")]));
        assert!(!from(&[("origin", "null"), ("host", "null")]));
    }

    #[test]
    fn server_functions_stay_out_of_the_gateways_way() {
        let paths: Vec<_> = leptos::server_fn::axum::server_fn_paths().map(|(path, _)| path).collect();
        assert!(!paths.is_empty());
        for path in paths {
            assert!(path.starts_with(FUNCTIONS), "{path}: is SERVER_FN_PREFIX set in .cargo/config.toml?");
        }
    }
}
