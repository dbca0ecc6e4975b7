//! The portal through its real router: who gets which page, and with which headers.

mod account;
mod away;
mod defence;
mod forms;
mod keys;
mod receipt;
mod self_serve;

use app::changes::By;
use app::people::{InviteAs, accept, invite};
use app::session::store;
use axum::Router;
use axum::body::{Body, to_bytes};
use http::header::{COOKIE, HOST};
use http::{HeaderMap, Request, StatusCode};
use sqlx::PgPool;
use toll::portal::{PortalState, router};
use tower::ServiceExt;

use crate::people::partner;
use crate::support::database::TestDatabase;

const PASSWORD: &str = "nine lives are enough";

pub struct Portal {
    pub router: Router,
    pub db: PgPool,
    _site: tempfile::TempDir,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub async fn portal(public_url: &str) -> Portal {
    on(TestDatabase::new().await.pool, public_url)
}

/// As `make build` leaves it, with next to nothing in it.
pub fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(site.path().join(name), text).unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    write(
        "assets.json",
        r#"{"toll_js":"/pkg/a.js","toll_wasm":"/pkg/a.wasm","toll_css":"/pkg/a.css","echarts_js":"/pkg/e.js"}"#,
    );
    write("pkg/a.js", "export default 1;");
    write("pkg/a.js.gz", "compressed");
    site
}

pub fn on(db: PgPool, public_url: &str) -> Portal {
    let site = site();
    let state = PortalState { db: db.clone(), public_url: public_url.into(), site_dir: site.path().into() };
    Portal { router: router(state), db, _site: site }
}

impl Portal {
    pub async fn ask(&self, request: http::request::Builder, body: &str) -> Answer {
        let request = request.header(HOST, "toll.example").body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 10_000_000).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub async fn page(&self, path: &str, cookie: &str) -> Answer {
        self.ask(Request::get(path).header(COOKIE, cookie).header("accept", "text/html"), "").await
    }

    /// As a browser's script posts it.
    pub async fn call(&self, function: &str, cookie: &str, form: &str) -> Answer {
        let request = Request::post(format!("/_fn/{function}"))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .header("sec-fetch-site", "same-origin")
            .header(COOKIE, cookie);
        self.ask(request, form).await
    }

    /// As a browser without scripts posts a form to a page.
    pub async fn post(&self, path: &str, cookie: &str, form: &str) -> Answer {
        let request = Request::post(path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "text/html")
            .header("origin", "http://toll.example")
            .header(COOKIE, cookie);
        self.ask(request, form).await
    }

    /// A person with a session: the cookie's value.
    pub async fn session(&self, email: &str, role: InviteAs) -> String {
        let token = invite(&self.db, By("test"), email, role).await.unwrap();
        let person = accept(&self.db, &token, "", PASSWORD).await.unwrap();
        format!("toll_session={}", store::create(&self.db, person).await.unwrap())
    }
}

#[tokio::test]
async fn strangers_are_led_to_the_door_partners_are_refused_and_operators_see_the_books() {
    let portal = portal("http://toll.example").await;
    let stranger = portal.page("/ops?last=6h", "").await;
    assert_eq!(stranger.status, StatusCode::FOUND);
    assert_eq!(stranger.header("location"), "/?next=%2Fops%3Flast%3D6h");
    assert!(!stranger.body.contains("Unaccounted"));

    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let refused = portal.page("/ops", &bob).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert!(!refused.body.contains("Unaccounted"));
    assert_eq!(portal.call("ops_traffic", &bob, "span=1h").await.status, StatusCode::FORBIDDEN);
    let own = portal.page("/portal", &bob).await;
    assert_eq!(own.status, StatusCode::OK);
    assert!(own.body.contains("Unaccounted"));

    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let books = portal.page("/ops", &ada).await;
    assert_eq!(books.status, StatusCode::OK);
    assert!(books.body.contains("Unaccounted") && books.body.contains("ada@example.com"));
    assert_eq!(portal.page("/portal", &ada).await.status, StatusCode::FORBIDDEN);
    assert_eq!(portal.page("/", &ada).await.header("location"), "/ops");
}

#[tokio::test]
async fn built_files_are_kept_for_a_year_pages_are_not_kept_and_nothing_else_is_served() {
    let portal = portal("http://toll.example").await;
    let file = portal.ask(Request::get("/pkg/a.js").header("accept-encoding", "gzip"), "").await;
    assert_eq!((file.status, file.body.as_str()), (StatusCode::OK, "compressed"));
    assert_eq!(file.header("content-encoding"), "gzip");
    assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(portal.page("/", "").await.header("cache-control"), "private, no-store");
    for path in
        ["/pkg/missing.js", "/pkg/../../etc/passwd", "/pkg/%2e%2e/%2e%2e/etc/passwd", "/pkg/", "/nothing"]
    {
        let answer = portal.page(path, "").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
        assert!(answer.body.contains("There is nothing here."), "{path}");
        assert_eq!(answer.header("cache-control"), "private, no-store", "{path}");
    }
}

#[tokio::test]
async fn without_a_built_site_the_portal_says_so() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let nowhere = tempfile::tempdir().unwrap();
    let state = PortalState { db, public_url: "http://toll.example".into(), site_dir: nowhere.path().into() };
    let response = router(state).oneshot(Request::get("/ops").body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body = to_bytes(response.into_body(), 1000).await.unwrap();
    assert!(String::from_utf8_lossy(&body).contains("make build"));
}
