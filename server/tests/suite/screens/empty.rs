//! Pages without anything to show: a new gateway, a window without requests, and what a page promises without scripts.

use app::domain::outcome::Outcome;
use app::domain::span::Span;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::people::InviteAs;
use time::{Duration, OffsetDateTime};
use toll::ledger::record::Record;
use uuid::Uuid;

use super::text;
use crate::portal::{Answer, Portal, portal};
use crate::support::traffic::{Catalog, catalog, ended, write};

const PAST: &str = "from=2025-01-01T10:00Z&to=2025-01-01T11:00Z";

async fn world() -> (Portal, Catalog, String, [String; 2]) {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    let eve = portal.session("eve@globex.example", InviteAs::Partner(catalog.partners[1])).await;
    (portal, catalog, ada, [bob, eve])
}

/// A request of `acme`.
fn served(catalog: &Catalog) -> Record {
    Record {
        partner: catalog.partners[0],
        route: catalog.routes[0],
        key: catalog.keys[0],
        ..ended(Stage::Proxy, Outcome::Forwarded)
    }
}

/// What a page leads to, as its address has it.
fn leads_to(page: &Answer, href: &str) -> bool {
    page.body
        .replace("%3A", ":")
        .replace("%2D", "-")
        .replace("&amp;", "&")
        .contains(&format!("href=\"{href}\""))
}

#[tokio::test]
async fn a_new_gateway_asks_for_a_first_request_and_says_where_it_will_be() {
    let (portal, _, ada, [bob, _]) = world().await;
    for (page, cookie) in [("/ops", &ada), ("/portal", &bob)] {
        let now = text(&portal.page(page, cookie).await);
        assert!(now.contains("end a request") && now.contains("Waiting for the first request."), "{now}");
        let past = portal.page(&format!("{page}?{PAST}"), cookie).await;
        let told = text(&past);
        assert!(told.contains("end a request") && told.contains("This window is over:"), "{told}");
        assert!(!told.contains("Waiting for") && leads_to(&past, &format!("{page}?last=1h")), "{told}");
    }
}

#[tokio::test]
async fn a_window_without_requests_leads_to_the_newest_and_to_the_last_hour() {
    let (portal, catalog, ada, [bob, eve]) = world().await;
    let at = OffsetDateTime::now_utc() - Duration::days(3);
    write(&portal.db, vec![(at - Duration::days(1), vec![served(&catalog)]), (at, vec![served(&catalog)])])
        .await;
    let newest = Span::Between(Window::last(Duration::HOUR, at)).to_url();
    for (page, cookie) in [("/ops", &ada), ("/portal", &bob)] {
        for (query, is_live) in [("last=1h", true), ("last=6h", true), (PAST, false)] {
            let shown = portal.page(&format!("{page}?{query}"), cookie).await;
            let told = text(&shown);
            assert!(told.contains("Nothing arrived in this window."), "{page}?{query}: {told}");
            assert!(!told.contains("end a request") && !told.contains("first request"), "{told}");
            assert!(leads_to(&shown, &format!("{page}?{newest}")), "{page}?{query}: {}", shown.body);
            assert_eq!(told.contains("What arrives from now on appears here by itself."), is_live, "{told}");
            assert_eq!(told.contains("What comes now is in the last hour"), query != "last=1h", "{told}");
        }
        let there = text(&portal.page(&format!("{page}?{newest}"), cookie).await);
        assert!(there.contains("The one request reached the upstream."), "{there}");
    }
    let stranger = text(&portal.page("/portal?last=1h", &eve).await);
    assert!(stranger.contains("end a request"), "another's requests are not told of: {stranger}");
}

/// Rows by minute and by hour are dropped when they are old.
#[tokio::test]
async fn requests_that_are_known_by_the_day_alone_are_led_to_by_the_day() {
    let (portal, catalog, ada, [bob, _]) = world().await;
    let at = OffsetDateTime::now_utc() - Duration::days(40);
    write(&portal.db, vec![(at, vec![served(&catalog)])]).await;
    sqlx::raw_sql("delete from ends_minute; delete from ends_hour").execute(&portal.db).await.unwrap();
    let day = at.replace_time(time::Time::MIDNIGHT);
    let newest = Span::Between(Window { from: day, to: day + Duration::DAY }).to_url();
    for (page, cookie) in [("/ops", &ada), ("/portal", &bob)] {
        let shown = portal.page(page, cookie).await;
        assert!(leads_to(&shown, &format!("{page}?{newest}")), "{}", shown.body);
    }
}

/// Each element that is there for pages with scripts, by its text.
fn promised(page: &Answer) -> Vec<String> {
    let parts = page.body.split("with-scripts").skip(1);
    parts.map(|part| part.split_once('>').map_or("", |(_, text)| text).to_owned()).collect()
}

#[tokio::test]
async fn what_a_page_does_by_itself_it_promises_only_where_scripts_run() {
    let (portal, _, ada, [bob, _]) = world().await;
    let fresh = format!("/r/{}", Uuid::now_v7());
    for (page, cookie, promises) in [
        ("/ops", &ada, 2),
        ("/ops?live=off", &ada, 2),
        ("/ops/requests", &ada, 1),
        ("/ops/latency", &ada, 1),
        ("/ops/partners/acme", &ada, 1),
        ("/portal", &bob, 2),
        ("/portal/requests", &bob, 1),
        (fresh.as_str(), &bob, 1),
    ] {
        let shown = portal.page(page, cookie).await;
        let (promised, instead) = (promised(&shown), shown.body.matches("without-scripts").count());
        assert_eq!((promised.len(), instead), (promises, promises), "{page}: {}", shown.body);
        let others = shown.body.matches("by itself").count();
        let told = promised.iter().filter(|text| text.split("</p>").next().unwrap().contains("by itself"));
        assert_eq!(told.count(), others, "{page}: {promised:?}");
    }
}
