//! `/ops`: the books of everything, and what stands beside them.

use app::access::access;
use app::domain::moment::Dated;
use app::domain::outcome::Outcome;
use app::domain::span::Span;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::people::InviteAs;
use time::format_description::well_known::Rfc3339;
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use toll::ledger::record::Record;

use super::text;
use crate::portal::portal;
use crate::support::traffic::{Catalog, catalog, ended, write};

fn of(catalog: &Catalog, n: usize, stage: Stage, outcome: Outcome) -> Record {
    let mut record = ended(stage, outcome);
    (record.route, record.partner, record.key) = (catalog.routes[n], catalog.partners[n], catalog.keys[n]);
    record
}

fn many(count: usize, record: &Record) -> Vec<Record> {
    vec![record.clone(); count]
}

#[tokio::test]
async fn each_line_of_the_books_opens_its_reasons_and_each_reason_its_requests() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let mut records = many(7, &of(&catalog, 0, Stage::Quota, Outcome::QuotaEarlyRetry));
    records.extend(many(2, &of(&catalog, 0, Stage::Proxy, Outcome::UpstreamUnreachable)));
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(5), records)]).await;
    let page = portal.page("/ops?last=6h", &ada).await;
    for link in [
        "/ops/requests?last=6h&amp;stage=quota&amp;outcome=quota%5Fearly%5Fretry",
        "/ops/requests?last=6h&amp;stage=proxy&amp;answer=unsent&amp;outcome=upstream%5Funreachable",
        "/ops/requests?last=6h&amp;answer=any",
    ] {
        let is_there = page.body.contains(link);
        assert_eq!(is_there, !link.ends_with("any"), "nothing reached the upstream: {link}\n{}", page.body);
    }
    assert!(text(&page).contains("Unaccounted 0"), "{}", text(&page));
}

#[tokio::test]
async fn where_nobody_must_act_the_first_line_says_where_the_requests_went() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    sqlx::raw_sql(
        "insert into upstream (name, urls) values ('archive', '{http://127.0.0.1:9}');
         insert into route (name, path, upstream_id)
         select name, '/archive', id from upstream where name = 'archive'",
    )
    .execute(&portal.db)
    .await
    .unwrap();
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let mut records = many(40, &of(&catalog, 0, Stage::Proxy, Outcome::Forwarded));
    records.extend(many(2, &of(&catalog, 0, Stage::Quota, Outcome::QuotaSpent)));
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(5), records)]).await;
    let page = text(&portal.page("/ops?last=1h", &ada).await);
    let first = page.find("40 of 42 requests reached the upstream (95.2 %). Most that went no further");
    let second = page.find("archive is quiet because nobody calls");
    assert!(first.is_some() && first < second, "{page}");
}

#[tokio::test]
async fn partners_come_by_what_was_turned_away_and_a_cache_hit_is_not() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let mut records = many(90, &of(&catalog, 0, Stage::Cache, Outcome::CacheHit));
    records.extend(many(3, &of(&catalog, 0, Stage::Key, Outcome::KeyRevoked)));
    records.extend(many(5, &of(&catalog, 1, Stage::Quota, Outcome::QuotaSpent)));
    records.extend(many(2, &of(&catalog, 1, Stage::Proxy, Outcome::Forwarded)));
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(5), records)]).await;
    let page = portal.page("/ops", &ada).await;
    let (globex, acme) = (page.body.find("id=\"partner-globex\""), page.body.find("id=\"partner-acme\""));
    assert!(globex.is_some() && acme.is_some() && globex < acme, "{globex:?} {acme:?}");
    let text = text(&page);
    assert!(text.contains("GLOBEXglobex 7 0 5 0 0 2"), "{text}");
    assert!(text.contains("ACMEacme 93 3 0 0 0 0"), "{text}");
}

#[tokio::test]
async fn the_window_is_held_against_the_one_before() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let (now, spent) = (OffsetDateTime::now_utc(), of(&catalog, 0, Stage::Quota, Outcome::QuotaSpent));
    let minutes = vec![
        (now - Duration::minutes(130), many(1, &spent)),
        (now - Duration::minutes(90), many(10, &spent)),
        (now - Duration::minutes(10), many(62, &spent)),
    ];
    write(&portal.db, minutes).await;
    let page = text(&portal.page("/ops?last=1h", &ada).await);
    assert!(page.contains("Against the window beforeits last minute still fills"), "{page}");
    assert!(page.contains("Quota 62 10 +52 ×6.2"), "{page}");
    assert!(page.contains("Served by cache 0 0 ±0"), "{page}");
    let at = |ago| (now - Duration::minutes(ago)).format(&Rfc3339).unwrap();
    let page = text(&portal.page(&format!("/ops?from={}&to={}", at(60), at(0)), &ada).await);
    assert!(page.contains("Against the window before Line"), "it stands still: {page}");
}

#[tokio::test]
async fn a_window_is_not_held_against_one_in_which_the_books_began() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let (now, served) = (OffsetDateTime::now_utc(), of(&catalog, 0, Stage::Proxy, Outcome::Forwarded));
    // As many a minute, for 90 of them.
    let minutes = (1..=90).map(|ago| (now - Duration::minutes(ago), many(3, &served)));
    write(&portal.db, minutes.collect()).await;
    let page = text(&portal.page("/ops?last=1h", &ada).await);
    assert!(page.contains("The books do not reach back over all of it yet."), "{page}");
    assert!(!page.contains("times the hour before"), "nothing rose: {page}");
    let page = text(&portal.page("/ops?last=15m", &ada).await);
    assert!(page.contains("Arrived 42 45 −3 −6.7 %"), "{page}");
}

#[tokio::test]
async fn what_is_in_flight_has_arrived_beside_the_window_before_as_in_the_books() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let (now, served) = (OffsetDateTime::now_utc(), of(&catalog, 0, Stage::Proxy, Outcome::Forwarded));
    let minutes = [100, 60, 10].map(|ago| (now - Duration::minutes(ago), many(10, &served)));
    write(&portal.db, minutes.into()).await;
    sqlx::query(
        "update door_minute set arrived = arrived + 3, open = 3 where at = (select max(at) from door_minute)",
    )
    .execute(&portal.db)
    .await
    .unwrap();
    // Read minute by minute at any time: no whole hour is in it.
    let page = text(&portal.page("/ops?last=45m", &ada).await);
    assert!(page.contains("Arrived 13 100 %"), "{page}");
    assert!(page.contains("Arrived 13 10 +3 +30 %"), "{page}");
    assert!(page.contains("In flight 3 0 +3 new"), "{page}");
}

#[tokio::test]
async fn an_upstream_whose_breaker_is_open_says_since_when() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    sqlx::query(
        "insert into breaker (upstream_id, state, opened_at) values ($1, 'open', '2026-01-01T14:02:11Z')
         on conflict (upstream_id) do update set state = excluded.state, opened_at = excluded.opened_at",
    )
    .bind(catalog.upstream)
    .execute(&portal.db)
    .await
    .unwrap();
    let mut failed = of(&catalog, 0, Stage::Proxy, Outcome::Forwarded);
    if let Some(end) = &mut failed.end {
        (end.status, end.upstream_status) = (503, 503);
    }
    let mut records = many(3, &failed);
    records.extend(many(1, &of(&catalog, 0, Stage::Proxy, Outcome::Forwarded)));
    records.extend(many(312, &of(&catalog, 1, Stage::Breaker, Outcome::BreakerOpen)));
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(5), records)]).await;
    let text = text(&portal.page("/ops", &ada).await);
    let opened = datetime!(2026-01-01 14:02:11 UTC);
    let since = Dated::of(opened, OffsetDateTime::now_utc()).second(opened);
    assert!(text.contains(&format!("billing open since {since} 4 75.0 % 312")), "{text}");
}

#[tokio::test]
async fn each_outage_is_told_by_itself_and_those_that_share_a_minute_are_counted_together() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let minute = OffsetDateTime::now_utc() - Duration::minutes(10);
    let minute = minute.replace_second(0).unwrap().replace_nanosecond(0).unwrap();
    // As on a page whose window may have begun yesterday.
    let dated = Span::default().dated(Window::last(Duration::HOUR, OffsetDateTime::now_utc()));
    let mut opened = Vec::new();
    // Seven times in a minute, and so on into the next.
    for n in 0..7 {
        let at = minute + Duration::seconds(8 * n);
        opened.push(dated.second(at));
        for (state, reason, at) in
            [("open", "5 failures in 10 s", at), ("closed", "", at + Duration::seconds(3))]
        {
            sqlx::query(
                "insert into breaker_event (upstream_id, state, generation, reason, at) values ($1, $2, 2, $3, $4)",
            )
            .bind(catalog.upstream)
            .bind(state)
            .bind(reason)
            .bind(at)
            .execute(&portal.db)
            .await
            .unwrap();
        }
    }
    let held = of(&catalog, 0, Stage::Breaker, Outcome::BreakerOpen);
    write(&portal.db, vec![(minute, many(34, &held))]).await;
    let page = text(&portal.page("/ops/upstreams?last=1h", &ada).await);
    let (why, above) = ("3 s 5 failures in 10 s", "counted above: it shares a minute with that");
    assert!(
        page.contains("; it was open 7 times in this window. 34 requests of 1 partner were held back."),
        "{page}"
    );
    assert!(
        page.contains(&format!(
            "billing {} {why} 34 acme 34, in all 7 billing {} {why} – {above}",
            opened[6], opened[5]
        )),
        "{page}"
    );
    assert!(
        page.contains(&format!(
            "billing {} {why} – {above} billing 2 earlier since {} – {above}",
            opened[2], opened[0]
        )),
        "{page}"
    );
    let sheet = portal.page("/csv/ops/upstreams?last=1h", &ada).await.body;
    assert!(sheet.contains(",7,5 failures in 10 s,acme,34"), "{sheet}");
}

#[tokio::test]
async fn a_breaker_that_was_tried_meanwhile_has_been_open_since_its_outage_began() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    // Shut by hand at last: the row says when it is due.
    sqlx::query(
        "insert into breaker (upstream_id, state, opened_at) values ($1, 'open', now() + interval '1 hour')
         on conflict (upstream_id) do update set state = excluded.state, opened_at = excluded.opened_at",
    )
    .bind(catalog.upstream)
    .execute(&portal.db)
    .await
    .unwrap();
    sqlx::query(
        "insert into breaker_event (upstream_id, at, state, generation, reason)
         select $1, '2026-01-01Z'::timestamptz + at, state, 1, '5 failures in 10 s' from (values
             ('13:00:00'::interval, 'open'), ('13:10:00', 'closed'), ('14:02:11', 'open'),
             ('14:30:00', 'half_open'), ('14:30:01', 'open'), ('14:40:00', 'open')) as event (at, state)",
    )
    .bind(catalog.upstream)
    .execute(&portal.db)
    .await
    .unwrap();
    let began = datetime!(2026-01-01 14:02:11 UTC);
    let since = Dated::of(began, OffsetDateTime::now_utc()).second(began);
    let overview = text(&portal.page("/ops", &ada).await);
    assert!(overview.contains(&format!("billing open since {since} ")), "{overview}");
    let upstreams = text(&portal.page("/ops/upstreams", &ada).await);
    assert!(upstreams.contains(&format!("billing’s breaker has been open since {since}: ")), "{upstreams}");
}

#[tokio::test]
async fn a_window_that_makes_no_sense_is_told_above_the_last_hour() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    for (query, wrong) in [
        ("", false),
        ("?last=15m", false),
        ("?last=soon", true),
        ("?from=2026-01-02T00:00&to=2026-01-01T00:00", true),
        ("?from=2026-01-02T00:00", true),
        ("?from=yesterday&to=today", true),
    ] {
        for page in ["/ops", "/ops/requests", "/ops/latency"] {
            let said = text(&portal.page(&format!("{page}{query}"), &ada).await);
            assert_eq!(said.contains("What is shown is the last hour:"), wrong, "{page}{query} {said}");
        }
    }
}

#[tokio::test]
async fn what_stands_beside_an_upstream_leads_to_its_requests_by_whichever_route() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let mut records = many(3, &of(&catalog, 0, Stage::Breaker, Outcome::BreakerOpen));
    records.extend(many(2, &of(&catalog, 1, Stage::Breaker, Outcome::BreakerOpen)));
    // The caller's fault, which is no word on the upstream.
    records.extend(many(4, &of(&catalog, 1, Stage::Proxy, Outcome::BodyTooLarge)));
    records.extend(many(6, &of(&catalog, 1, Stage::Proxy, Outcome::UpstreamUnreachable)));
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(5), records)]).await;
    let page = portal.page("/ops/upstreams?last=1h", &ada).await.body;
    let link = "/ops/requests?last=1h&amp;upstream=billing&amp;stage=breaker";
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    let behind = text(&portal.page(&link.replace("&amp;", "&"), &ada).await);
    assert!(behind.contains("5 requests"), "{behind}");
    let overview = text(&portal.page("/ops?last=1h", &ada).await);
    assert!(overview.contains("billing6 without a connection closed 0"), "{overview}");
}

#[tokio::test]
async fn a_page_of_one_thing_that_there_is_not_says_so() {
    let portal = portal("http://toll.example").await;
    catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    for (page, said) in [
        ("/ops/latency?route=nope", "There is no route \"nope\"."),
        ("/ops/latency?route=billing", "No request on billing reached an upstream in this window."),
        ("/ops/cache?route=nope", "There is no route \"nope\" that caches."),
        ("/ops/upstreams?upstream=nope", "There is no upstream \"nope\"."),
        ("/ops/upstreams?upstream=billing", "billing’s breaker is closed, and was not open in this window."),
    ] {
        let told = text(&portal.page(page, &ada).await);
        assert!(told.contains(said), "{page}: {told}");
    }
}

#[tokio::test]
async fn the_example_for_a_partner_is_a_route_that_answers() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let example = async || access(&portal.db, catalog.partners[0]).await.unwrap().unwrap();
    let first = example().await.routes[0].name.clone();
    assert_eq!(example().await.example_path(None), format!("/{first}"), "nothing is known yet");
    let second = example().await.routes[1].name.clone();
    let id: i64 = sqlx::query_scalar("select id from route where name = $1")
        .bind(&second)
        .fetch_one(&portal.db)
        .await
        .unwrap();
    let answered = Record { route: id, ..of(&catalog, 0, Stage::Proxy, Outcome::Forwarded) };
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::hours(2), vec![answered])]).await;
    assert_eq!(example().await.example_path(None), format!("/{second}"));
    sqlx::query("insert into breaker (upstream_id, state, opened_at) values ($1, 'open', now())")
        .bind(catalog.upstream)
        .execute(&portal.db)
        .await
        .unwrap();
    assert_eq!(example().await.example_path(None), format!("/{first}"), "the door of both is shut");
}
