//! The key stage through real sockets: how a key is presented, when it holds, and that nobody behind the gateway sees it.

use std::time::{Duration, Instant};

use app::changes::By;
use app::keys::{MadeKey, NewKey, create, partner_by_slug, revoke, rotate};
use time::Duration as Span;

use crate::support::catalog::declare;
use crate::support::client::Reply;
use crate::support::database::TestDatabase;
use crate::support::flaky::Flaky;
use crate::support::gateway::{Options, TestGateway};
use crate::support::origin::Origin;
use crate::support::raw::{ask, request};
use crate::support::toll::PATIENCE;

const BY: By<'_> = By("toll keys");

/// `acme` may call `/orders` and `/items`, but not `/internal`; `/open` needs no key.
fn catalog(origin: &Origin, suspended: bool) -> String {
    let routes = ["orders", "items", "internal", "open"].map(|name| {
        let access = if name == "open" { "public" } else { "key" };
        format!(
            "[[route]]\nname = \"{name}\"\npath = \"/{name}\"\nupstream = \"all\"\naccess = \"{access}\"\n"
        )
    });
    format!(
        r#"
[[upstream]]
name = "all"
urls = ["{}"]
{}
[[plan]]
name = "free"
capacity = 100000
refill_per_second = 0.0
routes = ["orders", "items"]
[[partner]]
slug = "acme"
name = "Acme"
plan = "free"
suspended = {suspended}
"#,
        origin.url(),
        routes.concat()
    )
}

async fn foundations(origin: &Origin) -> (TestDatabase, MadeKey) {
    let db = TestDatabase::new().await;
    declare(&db.pool, &catalog(origin, false)).await;
    let key = make(&db, NewKey { name: "test", ..NewKey::default() }).await;
    (db, key)
}

async fn make(db: &TestDatabase, new: NewKey<'_>) -> MadeKey {
    let acme = partner_by_slug(&db.pool, "acme").await.unwrap();
    create(&db.pool, BY, acme, new).await.unwrap()
}

async fn set_up() -> (Origin, TestGateway, MadeKey) {
    let origin = Origin::ok().await;
    let (db, key) = foundations(&origin).await;
    (origin, TestGateway::on(db, &Options::default()).await, key)
}

async fn with(toll: &TestGateway, target: &str, headers: &[(&str, &str)]) -> Reply {
    ask(toll.address(), request("GET", target, headers)).await
}

async fn outcome_with(toll: &TestGateway, target: &str, headers: &[(&str, &str)]) -> String {
    with(toll, target, headers).await.outcome().to_owned()
}

async fn outcome(toll: &TestGateway, route: &str, key: &str) -> String {
    outcome_with(toll, &format!("/api/{route}"), &[("X-Api-Key", key)]).await
}

/// Notices and clocks take a moment.
async fn until_outcome(toll: &TestGateway, key: &str, wanted: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = outcome(toll, "orders", key).await;
        if now == wanted {
            return;
        }
        assert!(Instant::now() < deadline, "still {now}, not {wanted}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_comes_in_a_header_of_its_own_or_as_bearer() {
    let (_origin, toll, key) = set_up().await;
    let (bearer, lower) = (format!("Bearer {}", key.text), format!("bearer {}", key.text));
    for headers in [
        [("X-Api-Key", key.text.as_str())],
        [("x-api-key", &key.text)],
        [("Authorization", &bearer)],
        [("authorization", &lower)],
    ] {
        assert_eq!(outcome_with(&toll, "/api/orders", &headers).await, "forwarded", "{}", headers[0].0);
    }
    // Its own header goes first.
    let both = [("Authorization", bearer.as_str()), ("X-Api-Key", "nonsense")];
    assert_eq!(outcome_with(&toll, "/api/orders", &both).await, "key_malformed");
    let twice = [("X-Api-Key", key.text.as_str()), ("X-Api-Key", &key.text)];
    assert_eq!(outcome_with(&toll, "/api/orders", &twice).await, "key_malformed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_query_is_not_accepted_and_not_kept() {
    let (origin, toll, key) = set_up().await;
    for name in ["api_key", "key", "x-api-key", "access_token"] {
        let target = format!("/api/orders?{name}={}", key.text);
        assert_eq!(outcome_with(&toll, &target, &[]).await, "key_missing");
    }
    assert_eq!(origin.count(), 0);
    let books = crate::support::books::closed_books(&toll).await;
    assert_eq!(books.arrived, 4);
    let kept: i64 = sqlx::query_scalar("select count(*) from request_log l where l::text like '%toll\\_%'")
        .fetch_one(&toll.db.pool)
        .await
        .unwrap();
    assert_eq!(kept, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn shape_and_checksum_are_judged_without_any_look_up() {
    let origin = Origin::ok().await;
    let (db, key) = foundations(&origin).await;
    let flaky = Flaky::before(&db.url).await;
    let through = TestDatabase { pool: flaky.pool().await, url: db.url.clone() };
    let toll = TestGateway::on(through, &Options::default()).await;
    flaky.go_away();
    assert_eq!(outcome(&toll, "orders", &key.text).await, "key_unverifiable");
    let flipped = if key.text.ends_with('0') { "1" } else { "0" };
    for malformed in [
        "x",
        "toll_",
        &key.text[..42],
        &format!("{}0", key.text),
        &format!("{}{flipped}", &key.text[..42]),
        &key.text.replacen("toll_", "tall_", 1),
        &key.text.to_uppercase(),
    ] {
        assert_eq!(outcome(&toll, "orders", malformed).await, "key_malformed", "{malformed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_key_goes_upstream_and_any_other_authorization_does() {
    let (origin, toll, key) = set_up().await;
    let bearer = format!("Bearer {}", key.text);
    for route in ["orders", "open"] {
        let target = format!("/api/{route}");
        with(&toll, &target, &[("X-Api-Key", &key.text)]).await;
        with(&toll, &target, &[("Authorization", &bearer)]).await;
        with(&toll, &target, &[("X-Api-Key", &key.text), ("Authorization", &bearer)]).await;
        with(&toll, &target, &[("X-Api-Key", &key.text), ("Authorization", "Basic Zm9v")]).await;
    }
    let seen = origin.seen();
    assert_eq!(seen.len(), 8);
    for (n, seen) in seen.iter().enumerate() {
        assert!(!format!("{:?}", seen.headers).contains("toll_"), "{:?}", seen.headers);
        let authorization = seen.headers.get("authorization").map(|value| value.to_str().unwrap());
        assert_eq!(authorization, (n % 4 == 3).then_some("Basic Zm9v"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_in_use_is_refused_once_it_is_revoked() {
    let (_origin, toll, key) = set_up().await;
    assert_eq!(outcome(&toll, "orders", &key.text).await, "forwarded");
    revoke(&toll.db.pool, BY, None, key.key.id).await.unwrap();
    until_outcome(&toll, &key.text, "key_revoked").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_in_use_is_refused_once_its_time_is_over_though_nobody_says_so() {
    let (_origin, toll, _) = set_up().await;
    let new = NewKey { name: "brief", expires_in: Some(Span::seconds(3)), routes: None };
    let brief = make(&toll.db, new).await;
    until_outcome(&toll, &brief.text, "forwarded").await;
    until_outcome(&toll, &brief.text, "key_expired").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotated_key_holds_beside_its_successor_until_the_overlap_is_over() {
    let (_origin, toll, old) = set_up().await;
    assert_eq!(outcome(&toll, "orders", &old.text).await, "forwarded");
    let new = rotate(&toll.db.pool, BY, None, old.key.id, Span::seconds(3)).await.unwrap();
    assert_eq!(outcome(&toll, "orders", &new.text).await, "forwarded");
    // Judged only if the machine was quick enough to ask within the overlap.
    let early = outcome(&toll, "orders", &old.text).await;
    if time::OffsetDateTime::now_utc() - new.key.created_at < Span::seconds(2) {
        assert_eq!(early, "forwarded");
    }
    until_outcome(&toll, &old.text, "key_revoked").await;
    assert_eq!(outcome(&toll, "orders", &new.text).await, "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_must_be_granted_by_the_plan_and_by_the_key() {
    let (origin, toll, key) = set_up().await;
    let routes = ["items".to_owned()];
    let limited = make(&toll.db, NewKey { name: "limited", expires_in: None, routes: Some(&routes) }).await;
    for (route, key, expected) in [
        ("orders", &key, "forwarded"),
        ("internal", &key, "key_not_allowed"),
        ("items", &limited, "forwarded"),
        ("orders", &limited, "key_not_allowed"),
        ("internal", &limited, "key_not_allowed"),
        ("open", &limited, "forwarded"),
    ] {
        assert_eq!(outcome(&toll, route, &key.text).await, expected, "{route}");
    }
    assert_eq!(origin.count(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_is_suspended_while_it_calls_is_refused_and_let_in_again() {
    let (origin, toll, key) = set_up().await;
    assert_eq!(outcome(&toll, "orders", &key.text).await, "forwarded");
    for (suspended, expected) in [(true, "partner_suspended"), (false, "forwarded")] {
        declare(&toll.db.pool, &catalog(&origin, suspended)).await;
        until_outcome(&toll, &key.text, expected).await;
    }
}
