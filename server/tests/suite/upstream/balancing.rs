//! Several urls: the least busy is asked, one that takes no connection or is not well is passed over, and comes back.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use app::domain::outcome::Outcome;
use tokio::net::{TcpListener, TcpStream};

use super::raw::{PATIENCE, Scripted, path, soon};
use super::{Bench, PATIENT, PLAIN};
use crate::support::origin::Origin;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// An address at which nobody listens.
async fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// Answers `name`; `/hold` never, and counts it.
async fn named(name: &'static str, held: Arc<AtomicUsize>) -> Scripted {
    Scripted::start(move |mut wire, _| {
        let held = held.clone();
        async move {
            loop {
                match path(&wire.head().await) {
                    "" => return,
                    "/hold" => {
                        held.fetch_add(1, Ordering::SeqCst);
                        wire.rest().await;
                    }
                    _ => wire.say(format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{name}")).await,
                }
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_url_with_the_fewest_requests_in_flight_is_asked_and_equals_take_turns() {
    let held_by_b = Arc::new(AtomicUsize::new(0));
    let (a, b) = (named("a", Arc::default()).await, named("b", held_by_b.clone()).await);
    let bench = Bench::new(&[a.url(), b.url()], PATIENT, PLAIN).await;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for _ in 0..20 {
        *counts.entry(bench.get("/api/x").await.text().to_owned()).or_default() += 1;
    }
    // A client may come back before the gateway has put the last call away, so that turns are not exact.
    assert!(counts["a"] >= 6 && counts["b"] >= 6, "{counts:?}");
    // One of both gets three that never end, so that everything else goes to the other.
    let mut held = Vec::new();
    let catalog = bench.toll.node.gateway.catalog.now().clone();
    let targets = &catalog.upstreams.values().next().unwrap().targets;
    let busy: Vec<_> = (0..3).map(|_| targets[0].enter()).collect();
    for _ in 0..3 {
        let mut client = bench.client().await;
        client.get("/api/x/hold", &bench.key, "").await;
        held.push(client);
    }
    soon("three requests in flight", async {
        while held_by_b.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    drop(busy);
    for _ in 0..10 {
        assert_eq!(bench.get("/api/x").await.text(), "a");
    }
    drop(held);
    assert_eq!(bench.count(33, Outcome::ClientGone).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_takes_no_connection_is_passed_over_and_its_requests_go_to_another() {
    let alive = Origin::ok().await;
    let dead = format!("http://{}", nobody().await);
    let bench = Bench::new(&[dead, alive.url()], PATIENT, PLAIN).await;
    for _ in 0..40 {
        let answer = bench.get("/api/x").await;
        assert_eq!((answer.status(), answer.outcome()), (200, "forwarded"));
    }
    let funnel = bench.books(40).await;
    // A connection that was refused is no call.
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls, alive.count()), (40, 40, 40));
    let failures: i32 = sqlx::query_scalar("select cardinality(failures) from breaker")
        .fetch_one(&bench.toll.db.pool)
        .await
        .unwrap();
    assert_eq!(failures, 0, "requests that were answered are no failures");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_that_was_passed_over_is_tried_again_later() {
    let alive = Origin::ok().await;
    let dead = nobody().await;
    let bench = Bench::new(&[format!("http://{dead}"), alive.url()], PATIENT, PLAIN).await;
    for _ in 0..4 {
        assert_eq!(bench.get("/api/x").await.status(), 200);
    }
    let listener = TcpListener::bind(dead).await.unwrap();
    let back = tokio::spawn(async move { listener.accept().await.unwrap() });
    let began = std::time::Instant::now();
    while !back.is_finished() {
        // Who accepts says nothing, and closes: no matter here.
        bench.get("/api/x").await;
        assert!(began.elapsed() < PATIENCE, "never tried again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn if_no_url_takes_a_connection_the_upstream_is_unreachable_and_was_not_reached() {
    let dead = [nobody().await, nobody().await].map(|address| format!("http://{address}"));
    let bench = Bench::new(&dead, PATIENT, PLAIN).await;
    for method in ["GET", "POST"] {
        let mut client = bench.client().await;
        let key = &bench.key;
        client.say(format!("{method} /api/x HTTP/1.1\r\nHost: a\r\nX-Api-Key: {key}\r\n\r\n")).await;
        let answer = client.answer().await;
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_unreachable"));
    }
    let funnel = bench.books(2).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (0, 0));
}

/// Contract: only what is idempotent is tried on another url.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_not_idempotent_is_not_tried_on_another_url() {
    let alive = Origin::ok().await;
    let dead = format!("http://{}", nobody().await);
    let bench = Bench::new(&[dead, alive.url()], PATIENT, PLAIN).await;
    let mut outcomes = Vec::new();
    for _ in 0..3 {
        outcomes.push(bench.post("").await.answer().await.outcome().to_owned());
    }
    // The first finds out; the others go where a connection is taken.
    assert_eq!(outcomes, ["upstream_unreachable", "forwarded", "forwarded"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_whose_health_check_fails_is_passed_over_until_it_is_well_again() {
    let well = Arc::new(AtomicBool::new(false));
    let is_well = well.clone();
    let ill = Origin::start(move |seen| {
        let status = if seen.target == "/healthz" && !is_well.load(Ordering::SeqCst) { 503 } else { 200 };
        let response = http::Response::builder().status(status);
        async move { response.body(axum::body::Body::from("ok")).unwrap() }
    })
    .await;
    let other = Origin::ok().await;
    let bench = Bench::new(&[ill.url(), other.url()], "health = \"/healthz\"", PLAIN).await;
    let asked = |origin: &Origin| origin.seen().iter().filter(|seen| seen.target != "/healthz").count();
    let checks = |origin: &Origin| origin.seen().len() - asked(origin);
    let until = |what: &'static str, is: Box<dyn Fn() -> bool>| async move {
        soon(what, async {
            while !is() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    };
    let catalog = bench.toll.node.gateway.catalog.now().clone();
    let target = catalog.upstreams.values().next().unwrap().targets[0].clone();
    let usable = target.clone();
    until("a failed check", Box::new(move || !usable.is_usable())).await;
    let before = asked(&ill);
    for _ in 0..10 {
        assert_eq!(bench.get("/api/x").await.status(), 200);
    }
    assert_eq!((asked(&ill) - before, asked(&other)), (0, 10));
    well.store(true, Ordering::SeqCst);
    until("a good check", Box::new(move || target.is_usable())).await;
    for _ in 0..10 {
        assert_eq!(bench.get("/api/x").await.status(), 200);
    }
    assert!(asked(&ill) > before);
    assert!(checks(&ill) >= 2 && checks(&other) >= 2);
    assert_eq!(bench.books(20).await.upstream_calls, 20, "checks are no requests");
}

/// A target that accepts is reached, whatever it does then: its request is not sent elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_a_url_may_have_begun_is_not_tried_on_another() {
    let rude = Scripted::start(|mut wire, _| async move { drop(wire.head().await) }).await;
    let kind = Scripted::start(|mut wire, _| async move {
        while !wire.head().await.is_empty() {
            wire.say(OK).await;
        }
    })
    .await;
    let bench = Bench::new(&[rude.url(), kind.url()], PATIENT, PLAIN).await;
    let mut broken = 0;
    for _ in 0..10 {
        broken += i64::from(bench.get("/api/x").await.outcome() == "upstream_broken");
    }
    assert!((1..10).contains(&broken), "{broken}");
    assert_eq!(bench.count(10, Outcome::UpstreamBroken).await, broken);
    assert_eq!(bench.books(10).await.upstream_calls, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_hangs_in_the_air_counts_as_unreachable_after_connect_timeout() {
    // A queue of one that is full: the kernel answers no more.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    socket.listen(0).unwrap();
    let full = socket.local_addr().unwrap().as_socket().unwrap();
    let mut fillers = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(full)).await {
        fillers.push(stream.unwrap());
    }
    let upstream = format!("{PATIENT}\nconnect_timeout = \"300ms\"");
    let bench = Bench::new(&[format!("http://{full}")], &upstream, PLAIN).await;
    let answer = bench.get("/api/x").await;
    assert_eq!((answer.status(), answer.outcome()), (502, "upstream_unreachable"));
    assert_eq!(bench.books(1).await.upstream_calls, 0);
}
