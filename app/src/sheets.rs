//! The numbers of a page as CSV: `/csv` before the page's own address, and the same people may read it.

mod audit;
mod cache;
mod csv;
mod latency;
mod partners;
mod requests;
mod routes;
mod traffic;
mod upstreams;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LOCATION};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use leptos::prelude::*;
use leptos::reactive::computed::ScopedFuture;

use self::csv::Sheet;
use crate::domain::span::Span;
use crate::domain::window::Window;
use crate::error::{Error, sentence};
use crate::session::{Role, require_colleague, require_ops, require_partner};
use crate::site::Site;
use crate::widgets::address::Address;

/// In front of a page's path.
pub const PREFIX: &str = "/csv";

/// Where a page's numbers are, with everything that its address says; nothing for pages without.
pub fn link(address: &Address) -> Option<String> {
    let has_one = [
        "/ops",
        "/ops/partners",
        "/ops/routes",
        "/ops/requests",
        "/ops/upstreams",
        "/ops/cache",
        "/ops/latency",
        "/ops/audit",
        "/portal",
        "/portal/requests",
    ];
    let has_one = has_one.contains(&address.path.as_str()) || partner(&address.path).is_some();
    has_one.then(|| format!("{PREFIX}{}", address.with("live", None).href()))
}

/// The slug in the path of a partner's page.
pub fn partner(path: &str) -> Option<&str> {
    path.strip_prefix("/ops/partners/").filter(|slug| *slug != "new" && !slug.contains('/'))
}

/// Answers a request for the numbers of a page.
pub async fn answer(site: Site, parts: Parts) -> Response {
    let path = parts.uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let address = Address::parse(path, parts.uri.query().unwrap_or_default());
    let owner = Owner::new();
    let work = owner.with(|| {
        provide_context(parts);
        provide_context(site);
        ScopedFuture::new(async move { (sheet(&address).await, address) })
    });
    match work.await {
        (Ok(sheet), address) => file(&sheet, &address),
        // As on the page: after the sign-in the file comes.
        (Err(Error::SignedOut), address) => {
            let next = leptos_router::location::Url::escape(&format!("{PREFIX}{}", address.href()));
            (StatusCode::FOUND, [(LOCATION, format!("/?next={next}"))]).into_response()
        }
        // No form was filled in wrong: the address is.
        (Err(error @ Error::Invalid(_)), _) => {
            (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response()
        }
        (Err(error), _) => {
            let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, format!("{error}\n")).into_response()
        }
    }
}

/// Each page asks who is asking, first.
async fn sheet(address: &Address) -> Result<Sheet, Error> {
    match address.path.as_str() {
        "/ops" => {
            require_ops().await?;
            traffic::sheet(address, None).await
        }
        "/ops/partners" => {
            require_ops().await?;
            partners::sheet(address).await
        }
        "/ops/routes" => {
            require_ops().await?;
            routes::sheet(address).await
        }
        "/ops/audit" => {
            require_ops().await?;
            audit::sheet(address).await
        }
        "/ops/requests" => {
            require_ops().await?;
            requests::sheet(address, None).await
        }
        "/ops/upstreams" => {
            require_ops().await?;
            upstreams::sheet(address).await
        }
        "/ops/cache" => {
            require_ops().await?;
            cache::sheet(address).await
        }
        "/ops/latency" => {
            require_ops().await?;
            latency::sheet(address).await
        }
        "/portal" => match require_colleague().await?.1.role {
            Role::Partner { id, slug, .. } => traffic::of_partner(address, id, &slug).await,
            Role::Ops => Err(Error::Forbidden),
        },
        "/portal/requests" => requests::sheet(address, Some(require_partner().await?)).await,
        path => {
            let slug = partner(path).ok_or(Error::NotFound)?;
            require_ops().await?;
            partners::one(address, slug).await
        }
    }
}

/// The window that the address names. A page shows another in place of one that makes no sense, and says so; a file cannot.
fn span(address: &Address) -> Result<Span, Error> {
    address.named_span().map_err(|wrong| Error::Invalid(sentence(&wrong.to_string())))
}

/// The database and the window of a page.
async fn read(address: &Address) -> Result<(Site, Window), Error> {
    let (span, site) = (span(address)?, Site::current()?);
    let window = span.window(site.now().await?);
    Ok((site, window))
}

/// The name tells the page and the window, so that two files of a folder can be told apart.
fn file(sheet: &Sheet, address: &Address) -> Response {
    let page = address.path.trim_matches('/').replace('/', "-");
    let minute = |at: time::OffsetDateTime| format!("{}T{:02}{:02}Z", at.date(), at.hour(), at.minute());
    let name = format!("toll-{page}-{}-{}.csv", minute(sheet.window.from), minute(sheet.window.to));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""))
        .unwrap_or(HeaderValue::from_static("attachment"));
    let kind = HeaderValue::from_static("text/csv; charset=utf-8");
    ([(CONTENT_TYPE, kind), (CONTENT_DISPOSITION, disposition)], sheet.to_string()).into_response()
}
