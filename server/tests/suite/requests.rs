//! The log by the page: nothing twice, nothing left out, nothing of others.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::requests::{Asked, Logged, page};
use rand::prelude::*;
use sqlx::{AssertSqlSafe, PgPool};
use time::{Duration, OffsetDateTime};
use toll::ledger::record::Record;
use uuid::Uuid;

use crate::support::database::TestDatabase;
use crate::support::traffic::{Catalog, catalog, ended, write};

/// A few hours with requests of all kinds.
async fn any_log(db: &PgPool, catalog: &Catalog) -> Window {
    let mut random = StdRng::seed_from_u64(6);
    let now = OffsetDateTime::now_utc();
    let mut minutes = Vec::new();
    for ago in [0, 1, 2, 30, 59, 60, 61, 119, 121, 200, 299] {
        let records = (0..random.random_range(5..60)).map(|_| any(&mut random, catalog)).collect();
        minutes.push((now - Duration::minutes(ago), records));
    }
    write(db, minutes).await;
    Window::last(Duration::hours(6), now)
}

fn any(random: &mut StdRng, catalog: &Catalog) -> Record {
    let stage = *Stage::ALL.choose(random).unwrap();
    let outcomes: Vec<_> = Outcome::ALL.iter().filter(|outcome| outcome.belongs_to(stage)).collect();
    let mut record = ended(stage, **outcomes.choose(random).unwrap());
    let n = random.random_range(0..2);
    (record.route, record.partner, record.key) =
        (*catalog.routes.choose(random).unwrap(), catalog.partners[n], catalog.keys[n]);
    record.duration_us = random.random_range(0..8_000_000);
    let end = record.end.as_mut().unwrap();
    end.reached = stage == Stage::Proxy && random.random_ratio(3, 4);
    end.upstream_status = match end.reached && random.random_ratio(3, 4) {
        true => *[200, 304, 404, 429, 503].choose(random).unwrap(),
        false => 0,
    };
    if end.upstream_status > 0 {
        end.status = end.upstream_status;
    }
    record
}

/// All pages, one after the other.
async fn walk(
    db: &PgPool,
    window: Window,
    asked: &Asked,
    partner: Option<i64>,
) -> (Vec<Logged>, Option<u64>) {
    let (mut all, mut asked) = (Vec::new(), asked.clone());
    for _ in 0..400 {
        let page = page(db, window, &asked, partner, 7).await.unwrap();
        assert!(page.rows.len() <= 7);
        all.extend(page.rows);
        match page.older {
            Some(older) => asked.before = Some(older),
            None => return (all, page.count),
        }
    }
    panic!("pages without end: {asked:?}");
}

#[tokio::test]
async fn pages_of_any_filter_list_what_the_log_holds_newest_first_and_once() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let window = any_log(&db, &catalog).await;
    let asked = |pairs: &[(&str, &str)]| {
        let mut asked = Asked::default();
        for (name, value) in pairs {
            let value = Some((*value).to_owned());
            match *name {
                "stage" => asked.stage = value,
                "outcome" => asked.outcome = value,
                "route" => asked.route = value,
                "partner" => asked.partner = value,
                "key" => asked.key = value,
                "status" => asked.status = value,
                "answer" => asked.answer = value,
                "latency" => asked.latency = value,
                other => panic!("{other}"),
            }
        }
        asked
    };
    let key = catalog.keys[1].to_string();
    let billing = format!("route_id = {}", catalog.routes[1]);
    let globex = format!("partner_id = {}", catalog.partners[1]);
    let both = format!("{globex} and {billing} and stage = 3");
    let cases: Vec<(Asked, &str)> = vec![
        (asked(&[]), "true"),
        (asked(&[("stage", "quota")]), "stage = 3"),
        (asked(&[("outcome", "client_gone")]), "outcome = 120"),
        (asked(&[("route", "billing")]), &billing),
        (asked(&[("partner", "globex")]), &globex),
        (asked(&[("key", &key)]), &globex),
        (asked(&[("key", &key), ("route", "billing"), ("stage", "quota")]), &both),
        (asked(&[("status", "429")]), "status = 429"),
        (asked(&[("status", "503")]), "status = 503"),
        (asked(&[("status", "4xx")]), "status between 400 and 499"),
        (asked(&[("status", "5xx"), ("stage", "proxy")]), "status between 500 and 599 and stage = 6"),
        (asked(&[("answer", "any")]), "reached"),
        (asked(&[("answer", "unsent"), ("stage", "proxy")]), "not reached and stage = 6"),
        (asked(&[("answer", "none")]), "reached and upstream_status = 0"),
        (asked(&[("answer", "4xx")]), "reached and upstream_status between 400 and 499"),
        (
            asked(&[("latency", "5000")]),
            "reached and timed and duration_us > 1000000 and duration_us <= 5000000",
        ),
        (asked(&[("latency", "over")]), "reached and timed and duration_us > 5000000"),
    ];
    for (asked, condition) in cases {
        let select = format!(
            "select id from request_log where at >= $1 and at < $2 and {condition} order by at desc, id desc"
        );
        let expected: Vec<Uuid> = sqlx::query_scalar(AssertSqlSafe(select))
            .bind(window.from)
            .bind(window.to)
            .fetch_all(&db)
            .await
            .unwrap();
        assert!(!expected.is_empty(), "{condition}: the test is to find something");
        let (rows, count) = walk(&db, window, &asked, None).await;
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        assert_eq!(ids, expected, "{condition}");
        if asked.status.is_none() {
            assert_eq!(count, Some(expected.len() as u64), "{condition}");
        }
    }
}

#[tokio::test]
async fn a_partner_sees_its_own_requests_whatever_it_asks_for() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let window = any_log(&db, &catalog).await;
    let [acme, _] = catalog.partners;
    for asked in [
        Asked::default(),
        Asked { partner: Some("globex".into()), ..Asked::default() },
        Asked { stage: Some("quota".into()), partner: Some("globex".into()), ..Asked::default() },
    ] {
        let (rows, _) = walk(&db, window, &asked, Some(acme)).await;
        assert!(!rows.is_empty());
        assert!(rows.iter().all(|row| row.partner.as_deref() == Some("acme")), "{asked:?}");
    }
    let others_key = Asked { key: Some(catalog.keys[1].to_string()), ..Asked::default() };
    assert!(page(&db, window, &others_key, Some(acme), 7).await.is_err());
}

#[tokio::test]
async fn of_an_upstream_are_the_requests_of_all_routes_that_lead_to_it_and_only_operators_may_ask() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let window = any_log(&db, &catalog).await;
    let of_billing = Asked { upstream: Some("billing".into()), ..Asked::default() };
    let (all, _) = walk(&db, window, &Asked::default(), None).await;
    assert_eq!(walk(&db, window, &of_billing, None).await.0, all);
    let move_orders = "with other as (insert into upstream (name, urls) values ('orders', '{http://127.0.0.1:9}') returning id)
        update route set upstream_id = other.id from other where route.name = 'orders'";
    sqlx::query(move_orders).execute(&db).await.unwrap();
    let left: Vec<_> = all.into_iter().filter(|row| row.route.as_deref() == Some("billing")).collect();
    let (rows, count) = walk(&db, window, &of_billing, None).await;
    assert_eq!((rows, count), (left.clone(), Some(left.len() as u64)));
    let through_orders = Asked { route: Some("orders".into()), ..of_billing.clone() };
    assert!(walk(&db, window, &through_orders, None).await.0.is_empty());
    assert!(page(&db, window, &of_billing, Some(catalog.partners[0]), 7).await.is_err());
}

#[tokio::test]
async fn what_is_no_filter_is_refused_and_never_reaches_the_database_as_sql() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let catalog = catalog(&db).await;
    let window = any_log(&db, &catalog).await;
    let evil = Some("' or true --".to_owned());
    for asked in [
        Asked { stage: evil.clone(), ..Asked::default() },
        Asked { outcome: evil.clone(), ..Asked::default() },
        Asked { route: evil.clone(), ..Asked::default() },
        Asked { upstream: evil.clone(), ..Asked::default() },
        Asked { partner: evil.clone(), ..Asked::default() },
        Asked { key: evil.clone(), ..Asked::default() },
        Asked { status: evil.clone(), ..Asked::default() },
        Asked { answer: evil.clone(), ..Asked::default() },
        Asked { latency: evil.clone(), ..Asked::default() },
        Asked { before: evil, ..Asked::default() },
    ] {
        let refused = page(&db, window, &asked, None, 7).await.unwrap_err();
        assert_eq!(refused.status(), 422, "{asked:?}");
    }
}
