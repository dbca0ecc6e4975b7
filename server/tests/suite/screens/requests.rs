//! `/ops/requests` and `/portal/requests`: what the address says, and what the page answers.

use app::domain::moment::{Dated, date};
use app::domain::outcome::Outcome;
use app::domain::span::Span;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::people::InviteAs;
use http::StatusCode;
use time::{Duration, OffsetDateTime};

use super::text;
use crate::portal::{Portal, portal};
use crate::support::traffic::{catalog, ended, write};

/// One refused request of a minute ago, and the cookies of an operator and of its partner.
async fn one() -> (Portal, OffsetDateTime, String, String) {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let at = OffsetDateTime::now_utc() - Duration::MINUTE;
    let mut record = ended(Stage::Quota, Outcome::QuotaSpent);
    (record.partner, record.route, record.key) = (catalog.partners[0], catalog.routes[0], catalog.keys[0]);
    write(&portal.db, vec![(at, vec![record])]).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    (portal, at, ada, bob)
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_is_told_on_the_page_with_examples_that_can() {
    let (portal, _, ada, bob) = one().await;
    let page = portal.page("/ops/requests?last=1h&status=abc", &ada).await;
    assert_eq!(page.status, StatusCode::OK);
    let told = text(&page);
    assert!(told.contains("Nothing is shown: \"abc\" is no status: write 429, or 4xx."), "{told}");
    assert!(page.body.contains("href=\"/ops/requests?last=1h&amp;status=4xx\""), "{}", page.body);
    assert!(page.body.contains("value=\"abc\""), "it can be mended where it was written");
    assert!(!page.body.contains("id=\"r-"), "no row is shown that was not asked for");

    for (cookie, address, why) in [
        (&bob, "/portal/requests?stage=door", "No stage is called \"door\"."),
        (&ada, "/ops/requests?latency=7", "No latency bucket ends at \"7\" ms"),
        (&ada, "/ops/requests?partner=nobody", "There is no partner \"nobody\"."),
        (&ada, "/ops/requests?before=x", "This link to older requests is broken."),
    ] {
        let page = portal.page(address, cookie).await;
        assert!(page.status == StatusCode::OK && text(&page).contains(why), "{address}: {}", page.body);
    }
    // A file of other numbers than were asked for would be worse than none.
    let file = portal.page("/csv/ops/requests?status=abc", &ada).await;
    assert_eq!(file.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_still_tells_day_and_year_and_a_long_window_the_day() {
    let (portal, at, ada, _) = one().await;
    let window = Window::last(Duration::minutes(5), at + Duration::MINUTE);
    let still = format!("/ops/requests?{}&live=off", Span::Between(window).to_url());
    let page = text(&portal.page(&still, &ada).await);
    assert!(page.contains(&format!("{} UTC", Dated::Year.window(window))), "the headline: {page}");
    assert!(page.contains(&format!("{}, ", date(at))), "the row: {page}");

    let week = text(&portal.page("/ops/requests?last=7d", &ada).await);
    assert!(
        week.contains(&format!("{}, {:02}:{:02}:", Dated::Day.day(at), at.hour(), at.minute())),
        "{week}"
    );
    let books = portal.page(&still.replace("/requests", ""), &ada).await;
    let step = format!("{}, {:02}:{:02}", date(at), at.hour(), at.minute());
    assert!(text(&books).contains(&step), "the table of the chart: {}", books.body);
}
