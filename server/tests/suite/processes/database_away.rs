//! The database goes away under load and comes back.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use sqlx::PgPool;
use toll::postgres::PrivatePostgres;

use super::{Machine, catalog, funnel};
use crate::support::client::{client, get};
use crate::support::load::Load;
use crate::support::origin::Origin;
use crate::support::toll::Home;

const CAPACITY: u32 = 1_000_000;
const CLIENTS: usize = 8;
const AWAY: Duration = Duration::from_secs(20);

async fn tokens(db: &PgPool) -> f64 {
    sqlx::query_scalar("select tokens from bucket").fetch_one(db).await.unwrap()
}

/// Waits until this node has found out that the database is back; returns how many answers were still metered locally.
async fn until_metered_again(url: &str, key: &str) -> usize {
    let client = client();
    for asked in 0..2_000 {
        let reply = get(&client, url, key).await;
        assert_eq!(reply.status, 200);
        if reply.header("x-toll-metered").is_empty() {
            return asked;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("still metered locally long after the database was back");
}

#[tokio::test(flavor = "multi_thread")]
async fn known_keys_are_served_without_the_database_and_settled_when_it_is_back() {
    // A server of the test's own, that can be stopped without harm to others.
    let server = Home::new();
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    let database_url = postgres.url().to_owned();
    let origin = Origin::start(|_| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Response::new(Body::from("ok"))
    })
    .await;
    let machine = Machine::on(&database_url);
    machine.apply(&catalog(&origin, "", CAPACITY, 0.0));
    let (_, key) = machine.create_key("acme");
    let (_, quiet) = machine.create_key("acme");
    let (_, unmet) = machine.create_key("acme");
    let mut toll = machine.serve();
    let url = format!("{}/api/orders/1", toll.url);

    let load = Load::start(CLIENTS, &url, &key);
    load.until_answered(500).await;
    assert_eq!(get(&client(), &url, &quiet).await.status, 200);
    // All keys are to be asked for again, and the quiet one is not until nobody is there to ask.
    machine.apply(&(catalog(&origin, "", CAPACITY, 0.0) + "name = \"Acme GmbH\""));
    tokio::time::sleep(Duration::from_secs(1)).await;
    postgres.stop().await;
    let before = load.answered();
    tokio::time::sleep(AWAY).await;
    let known = get(&client(), &url, &quiet).await;
    assert_eq!((known.status, known.header("x-toll-metered")), (200, "local"));
    let stranger = get(&client(), &url, &unmet).await;
    assert_eq!((stranger.status, stranger.outcome()), (503, "key_unverifiable"));
    assert!(load.answered() > before + 500, "{} answers while it was away", load.answered() - before);
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    assert_eq!(postgres.url(), database_url);
    let asked_locally = until_metered_again(&url, &key).await;
    let at_return = load.answered();
    load.until_answered(at_return + 500).await;
    let replies = load.stop().await;

    let others = replies.iter().filter(|reply| (reply.status, reply.outcome()) != (200, "forwarded"));
    assert_eq!(others.map(|reply| reply.outcome().to_owned()).collect::<Vec<_>>(), [""; 0]);
    let marked = replies.iter().filter(|reply| reply.header("x-toll-metered") == "local").count();
    assert!(marked > 500, "{marked} marked as metered locally");
    assert!(marked <= replies.len() - 500);
    assert_eq!(toll.stop(), Some(0));

    let db = PgPool::connect(&database_url).await.unwrap();
    let books = funnel(&db).await;
    assert_eq!((books.in_flight, books.unaccounted), (Some(0), Some(0)));
    // The quiet key's two, the stranger's, and those that waited for the return.
    assert_eq!(books.arrived as usize, replies.len() + 3 + asked_locally + 1);
    assert_eq!(books.upstream_calls, origin.count());
    assert_eq!(books.metered_locally as usize, marked + 1 + asked_locally);
    // Nothing is granted for nothing. What a statement had spent when its answer was lost is spent twice: one a client at most.
    let granted = books.arrived as f64 - 1.0;
    let charged = f64::from(CAPACITY) - tokens(&db).await;
    assert!(
        (granted..=granted + CLIENTS as f64 + 1.0).contains(&charged),
        "{charged} charged, {granted} granted"
    );
    machine.run(&["audit"]);
    db.close().await;
    postgres.stop().await;
}
