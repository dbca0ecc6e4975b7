//! A node that ends under load, one way or the other.

use std::collections::HashSet;
use std::time::Duration;

use app::domain::outcome::Outcome;
use axum::body::Body;
use axum::http::Response;
use rustix::process::Signal;
use uuid::Uuid;

use super::{Machine, catalog, funnel};
use crate::support::client::Reply;
use crate::support::database::TestDatabase;
use crate::support::load::{Load, id};
use crate::support::origin::Origin;

const ROUNDS: usize = 3;
const CLIENTS: usize = 32;

/// Slow enough that there is always something in flight.
async fn unhurried() -> Origin {
    Origin::start(|_| async {
        tokio::time::sleep(Duration::from_millis(3)).await;
        Response::new(Body::from("a body that is not empty"))
    })
    .await
}

async fn set_up() -> (TestDatabase, Origin, Machine, String) {
    let (db, origin) = (TestDatabase::new().await, unhurried().await);
    let machine = Machine::on(&db.url);
    machine.apply(&catalog(&origin, "", 1_000_000, 0.0));
    let (_, key) = machine.create_key("acme");
    (db, origin, machine, key)
}

async fn logged(db: &TestDatabase) -> Vec<(Uuid, Outcome)> {
    let rows: Vec<(Uuid, i16)> =
        sqlx::query_as("select id, outcome from request_log").fetch_all(&db.pool).await.unwrap();
    rows.into_iter().map(|(id, outcome)| (id, Outcome::from_code(outcome).unwrap())).collect()
}

fn assert_all_served(replies: &[Reply]) {
    for reply in replies {
        assert_eq!((reply.status, reply.outcome()), (200, "forwarded"));
        assert_eq!(reply.body, "a body that is not empty");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_client_saw_whole_is_in_the_books_once_though_toll_was_killed_under_load() {
    let (db, origin, machine, key) = set_up().await;
    let mut whole = Vec::new();
    for _ in 0..ROUNDS {
        let toll = machine.serve();
        let load = Load::start(CLIENTS, &format!("{}/api/orders/1", toll.url), &key);
        load.until_answered(1_200).await;
        toll.kill();
        whole.extend(load.ended().await);
    }
    assert_all_served(&whole);
    // Settles and ships what the last kill left.
    assert_eq!(machine.serve().stop(), Some(0));

    let rows = logged(&db).await;
    let once: HashSet<Uuid> = rows.iter().map(|(id, _)| *id).collect();
    assert_eq!(once.len(), rows.len(), "a request is in the log twice");
    let settled: HashSet<Uuid> =
        rows.iter().filter(|(_, o)| *o != Outcome::GatewayLost).map(|(id, _)| *id).collect();
    let missing = whole.iter().filter(|reply| !settled.contains(&id(reply))).count();
    assert_eq!(missing, 0, "of {} that clients saw whole", whole.len());
    // A client has one request under way at a time, so what nobody saw whole was in flight when a node died.
    let lost = rows.len() - settled.len();
    assert!((1..=ROUNDS * CLIENTS).contains(&lost), "{lost} lost");
    assert!(rows.len() - whole.len() <= ROUNDS * CLIENTS, "{} rows, {} seen", rows.len(), whole.len());

    let funnel = funnel(&db.pool).await;
    assert_eq!((funnel.arrived, funnel.unaccounted), (rows.len() as u64, Some(0)));
    assert_eq!(funnel.in_flight, Some(0));
    // What was about to be sent when the node died did perhaps not arrive.
    assert!((origin.count()..=origin.count() + lost as u64).contains(&funnel.upstream_calls));
    machine.run(&["audit"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn asked_to_end_under_load_toll_answers_what_is_inside_and_writes_it_down() {
    let (db, origin, machine, key) = set_up().await;
    let mut toll = machine.serve();
    let load = Load::start(CLIENTS, &format!("{}/api/orders/1", toll.url), &key);
    load.until_answered(1_200).await;
    toll.signal(Signal::TERM);
    let whole = load.ended().await;
    assert_eq!(toll.wait().code(), Some(0));
    assert_all_served(&whole);

    let mut rows = logged(&db).await;
    rows.sort();
    let mut seen: Vec<_> = whole.iter().map(|reply| (id(reply), Outcome::Forwarded)).collect();
    seen.sort();
    assert_eq!(rows, seen, "{} in the books, {} seen by clients", rows.len(), seen.len());
    assert_eq!(origin.count(), rows.len() as u64);
    let funnel = funnel(&db.pool).await;
    assert_eq!((funnel.arrived, funnel.in_flight, funnel.unaccounted), (rows.len() as u64, Some(0), Some(0)));
    machine.run(&["audit"]);
}
