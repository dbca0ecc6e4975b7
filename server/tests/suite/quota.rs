//! The token bucket through the gateway, on the database's clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use futures::future::join_all;

use crate::support::catalog::orders;
use crate::support::client::{Reply, client, client_without_keep_alive, get};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway, create_key};
use crate::support::origin::Origin;
use crate::support::raw::{RawClient, request};
use crate::support::toll::PATIENCE;

/// One partner, `acme`, on a plan of this size, and its key.
async fn set_up(origin: &Origin, capacity: u32, refill: f64) -> (TestGateway, String) {
    let db = TestDatabase::new().await;
    let key = declare(&db, origin, capacity, refill).await;
    (TestGateway::on(db, &Options::default()).await, key)
}

/// Thousands that connect to the origin at once have to wait for one another.
const PATIENT: &str = "connect_timeout = \"60s\"\ntimeout = \"60s\"\nbreaker = { max_in_flight = 10000 }";

async fn declare(db: &TestDatabase, origin: &Origin, capacity: u32, refill: f64) -> String {
    let file = orders(&origin.url(), PATIENT, capacity, refill);
    crate::support::catalog::declare(&db.pool, &file).await;
    create_key(db, "acme").await
}

fn tally(replies: &[Reply]) -> BTreeMap<(u16, String), usize> {
    let mut tally = BTreeMap::new();
    for reply in replies {
        *tally.entry((reply.status, reply.outcome().to_owned())).or_default() += 1;
    }
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_at_once_are_cut_exactly_at_a_capacity_of_sixty_and_none_is_called_a_retry() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 60, 0.0).await;
    let (client, url) = (client(), toll.url("/api/orders"));
    let replies = join_all((0..200).map(|_| get(&client, &url, &key))).await;
    let expected = BTreeMap::from([((200, "forwarded".into()), 60), ((429, "quota_spent".into()), 140)]);
    assert_eq!(tally(&replies), expected);
    assert_eq!(origin.count(), 60);
    assert!(replies.iter().filter(|r| r.status == 429).all(|r| r.header("retry-after") == "86400"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_many_threads_that_connect_as_they_come_is_no_retry_either() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 60, 0.0).await;
    let url = toll.url("/api/orders");
    let ready = Arc::new(Barrier::new(200));
    let threads = (0..200).map(|_| {
        let (url, key, ready) = (url.clone(), key.clone(), ready.clone());
        tokio::task::spawn_blocking(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let client = runtime.block_on(async { client_without_keep_alive() });
            ready.wait();
            runtime.block_on(get(&client, &url, &key))
        })
    });
    let replies: Vec<Reply> = join_all(threads).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(tally(&replies)[&(429, "quota_spent".into())], 140, "{:?}", tally(&replies));
}

#[tokio::test(flavor = "multi_thread")]
async fn almost_four_thousand_at_once_within_capacity_are_all_served() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 4_000, 0.0).await;
    let (client, url) = (client(), toll.url("/api/orders"));
    let replies = join_all((0..3_999).map(|_| get(&client, &url, &key))).await;
    assert_eq!(tally(&replies), BTreeMap::from([((200, "forwarded".into()), 3_999)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sleeps_exactly_as_long_as_told_is_served_many_times_in_a_row() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 1, 0.7).await;
    let (client, url) = (client(), toll.url("/api/orders"));
    let mut rounds = 0;
    while rounds < 5 {
        let reply = get(&client, &url, &key).await;
        if reply.status == 200 {
            continue;
        }
        tokio::time::sleep(Duration::from_secs(reply.number("retry-after"))).await;
        assert_eq!(get(&client, &url, &key).await.status, 200);
        rounds += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_times_the_refill_gets_capacity_and_what_came_in_within_one() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 10, 2.0).await;
    let (client, url) = (client(), toll.url("/api/orders"));
    let began = Instant::now();
    assert_eq!(get(&client, &url, &key).await.status, 200);
    // A full bucket takes in nothing: its time begins when the first token is spent, somewhere in between.
    let spent = Instant::now();
    let (mut served, mut tick) = (1, tokio::time::interval(Duration::from_micros(166_667)));
    let mut last = spent;
    while spent.elapsed() < Duration::from_secs(6) {
        tick.tick().await;
        last = Instant::now();
        served += u32::from(get(&client, &url, &key).await.status == 200);
    }
    let least = 10.0 + 2.0 * (last - spent).as_secs_f64() - 1.0;
    let most = 10.0 + 2.0 * began.elapsed().as_secs_f64() + 1.0;
    assert!(
        (least..=most).contains(&f64::from(served)),
        "{served} served, {least:.1} to {most:.1} were fair"
    );
}

/// A client of one connection. One with a pool may have opened another before it was refused, for a request that went over
/// the first after all; what comes first on that one may have been decided on before the refusal.
struct OneConnection(RawClient);

impl OneConnection {
    async fn to(toll: &TestGateway) -> OneConnection {
        OneConnection(RawClient::connect(toll.address()).await)
    }

    async fn get(&mut self, path: &str, key: &str) -> Reply {
        self.0.send(request("GET", path, &[("x-api-key", key)])).await;
        self.0.reply().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_before_its_time_is_named_and_another_key_of_the_partner_is_not_accused() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 1, 0.01).await;
    let other = create_key(&toll.db, "acme").await;
    let mut client = OneConnection::to(&toll).await;
    assert_eq!(client.get("/api/orders", &key).await.status, 200);
    assert_eq!(client.get("/api/orders", &key).await.outcome(), "quota_spent");
    let early = client.get("/api/orders", &key).await;
    assert_eq!((early.status, early.outcome()), (429, "quota_early_retry"));
    let on_a_new_connection = OneConnection::to(&toll).await.get("/api/orders", &key).await;
    assert_eq!(on_a_new_connection.outcome(), "quota_early_retry");
    assert_eq!(client.get("/api/orders", &other).await.outcome(), "quota_spent");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_early_request_leaves_its_wait_and_only_the_same_again_is_marked_so() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 1, 0.001).await;
    let mut client = OneConnection::to(&toll).await;
    for path in ["/api/orders/1", "/api/orders/1", "/api/orders/2", "/api/orders/1"] {
        client.get(path, &key).await;
    }
    let all = "select path, retry_waited_ms is not null, same_again from request_log order by at";
    let began = Instant::now();
    let rows: Vec<(String, bool, Option<bool>)> = loop {
        let rows = sqlx::query_as(all).fetch_all(&toll.db.pool).await.unwrap();
        if rows.len() == 4 {
            break rows;
        }
        assert!(began.elapsed() < PATIENCE, "{rows:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let marks: Vec<_> =
        rows.iter().map(|(path, waited, again)| (path.as_str(), *waited, again.unwrap())).collect();
    let expected = [
        ("/api/orders/1", false, false),
        ("/api/orders/1", false, false),
        ("/api/orders/2", true, false),
        ("/api/orders/1", true, true),
    ];
    assert_eq!(marks, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_early_comer_for_whom_there_is_a_token_is_served() {
    let origin = Origin::ok().await;
    let (toll, key) = set_up(&origin, 1, 0.4).await;
    let (client, url) = (client(), toll.url("/api/orders"));
    assert_eq!(get(&client, &url, &key).await.status, 200);
    let refused = get(&client, &url, &key).await;
    assert_eq!(refused.status, 429);
    // Two and a half seconds bring a token, though three were asked for (by a machine that is not too slow).
    assert!((2..=3).contains(&refused.number("retry-after")));
    tokio::time::sleep(Duration::from_millis(2_550)).await;
    assert_eq!(get(&client, &url, &key).await.status, 200);
}
