//! One fetch for many waiters (RFC 9111 §4).

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::origin::{Answer, answer, cached, gate};
use super::world::World;
use crate::support::client::Reply;

/// So many at once; the origin answers when all have had time to come.
async fn crowd(world: &World, target: &str, many: usize, gate: &tokio::sync::Semaphore) -> Vec<Reply> {
    let (replies, ()) = tokio::join!(join_all((0..many).map(|_| world.get(target))), async {
        world.asked(target, 1).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        gate.add_permits(10_000);
    });
    replies
}

fn tally(replies: &[Reply]) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for reply in replies {
        *tally.entry(reply.outcome().to_owned()).or_default() += 1;
    }
    tally
}

fn counts(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_costs_one_fetch_rfc_9111_4() {
    let world = World::new().await;
    let slow = gate();
    world.origin.at("/a", [cached("max-age=60", "body").after(&slow)]);
    let replies = crowd(&world, "/a", 100, &slow).await;
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == "body"));
    assert_eq!(world.origin.asked("/a"), 1);
    let tally = tally(&replies);
    assert_eq!(tally["forwarded"], 1);
    // Who came after the answer was stored has it from there.
    assert_eq!(tally["cache_collapsed"] + tally.get("cache_hit").unwrap_or(&0), 99, "{tally:?}");
    let collapsed = replies.iter().find(|reply| reply.outcome() == "cache_collapsed").unwrap();
    assert_eq!(collapsed.stage(), "cache");
    assert!(collapsed.header("cache-status").contains("collapsed"));
    let funnel = world.books(100).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn those_who_wait_get_the_whole_though_it_comes_slowly() {
    let world = World::new().await;
    let slow = gate();
    let head = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 8\r\n\r\nhalf";
    world.origin.at("/a", [Answer::written(head).then_waiting(&slow).then_written("full")]);
    let replies = crowd(&world, "/a", 20, &slow).await;
    assert!(replies.iter().all(|reply| reply.body == "halffull"));
    assert_eq!(world.origin.asked("/a"), 1);
    world.books(20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_one_is_given_to_nobody_else_and_all_go_on_by_themselves() {
    let world = World::new().await;
    for (n, headers) in [
        &[("cache-control", "private, max-age=60")][..],
        &[("cache-control", "no-store")],
        &[("cache-control", "max-age=60"), ("set-cookie", "a=b")],
        &[("cache-control", "max-age=0")],
        &[],
    ]
    .into_iter()
    .enumerate()
    {
        let slow = gate();
        let target = format!("/{n}");
        let scripts = (0..20).map(|n| answer(200, headers, &format!("for {n}")).after(&slow));
        world.origin.at(&target, scripts);
        let replies = crowd(&world, &target, 20, &slow).await;
        assert_eq!(world.origin.asked(&target), 20, "{headers:?}");
        assert_eq!(tally(&replies), counts(&[("forwarded", 20)]), "{headers:?}");
        let mut bodies: Vec<_> = replies.iter().map(|reply| reply.body.clone()).collect();
        bodies.sort();
        bodies.dedup();
        assert_eq!(bodies.len(), 20, "each has its own");
    }
    let funnel = world.books(100).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (100, 100));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_for_different_variants_each_get_their_own() {
    let world = World::new().await;
    let slow = gate();
    let vary = [("cache-control", "max-age=60"), ("vary", "Foo")];
    world.origin.at("/a", (0..20).map(|_| answer(200, &vary, "body").after(&slow)));
    let (replies, ()) = tokio::join!(
        join_all((0..40).map(|n| {
            let world = &world;
            async move { world.get_with("/a", &[("foo", ["1", "2"][n % 2])]).await }
        })),
        async {
            world.asked("/a", 1).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            slow.add_permits(10_000);
        }
    );
    assert!(replies.iter().all(|reply| reply.status == 200));
    assert_eq!(world.origin.asked("/a"), 2, "one for each variant");
    let foos: std::collections::BTreeSet<String> =
        world.origin.seen().iter().map(|seen| seen.header("foo").to_owned()).collect();
    assert_eq!(foos.len(), 2);
    world.books(40).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_before_a_stale_answer_costs_one_validation() {
    let world = World::new().await;
    let slow = gate();
    let stale = [("cache-control", "max-age=10"), ("age", "20"), ("etag", "\"1\"")];
    let good = answer(304, &[("cache-control", "max-age=60")], "").after(&slow);
    world.origin.at("/a", [answer(200, &stale, "body"), good]);
    world.get("/a").await;
    let (replies, ()) = tokio::join!(join_all((0..20).map(|_| world.get("/a"))), async {
        world.asked("/a", 2).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        slow.add_permits(100);
    });
    assert_eq!(world.origin.asked("/a"), 2);
    assert!(replies.iter().all(|reply| reply.body == "body"));
    assert_eq!(tally(&replies)["revalidated"], 1);
}

/// A client that sends a request and reads nothing.
async fn send_only(world: &World, target: &str) -> tokio::net::TcpStream {
    let mut stream = tokio::net::TcpStream::connect(world.toll.address()).await.unwrap();
    let request = format!(
        "GET /api/c{target} HTTP/1.1\r\nhost: {}\r\nx-api-key: {}\r\n\r\n",
        world.toll.address(),
        world.key
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_leaving_before_the_head_does_not_fail_the_others() {
    let world = World::new().await;
    let slow = gate();
    world.origin.at("/a", [cached("max-age=60", "body").after(&slow)]);
    let leader = send_only(&world, "/a").await;
    world.asked("/a", 1).await;
    let (replies, ()) = tokio::join!(join_all((0..20).map(|_| world.get("/a"))), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        drop(leader);
        world.asked("/a", 2).await;
        slow.add_permits(100);
    });
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == "body"));
    assert_eq!(world.origin.asked("/a"), 2, "one of the others leads");
    let funnel = world.books(21).await;
    assert_eq!(funnel.upstream_calls, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_leaving_within_the_body_does_not_fail_the_others() {
    let world = World::new().await;
    let slow = gate();
    let head = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 8\r\n\r\nhalf";
    world.origin.at("/a", [Answer::written(head).then_waiting(&slow).then_written("full")]);
    let mut leader = send_only(&world, "/a").await;
    let mut some = vec![0; 4_096];
    let read = leader.read(&mut some).await.unwrap();
    assert!(String::from_utf8_lossy(&some[..read]).starts_with("HTTP/1.1 200"));
    let (replies, ()) = tokio::join!(join_all((0..20).map(|_| world.get("/a"))), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        drop(leader);
        tokio::time::sleep(Duration::from_millis(200)).await;
        slow.add_permits(100);
    });
    assert!(replies.iter().all(|reply| reply.body == "halffull"));
    assert_eq!(world.origin.asked("/a"), 1, "the others read on");
    world.books(21).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_does_not_read_does_not_hold_the_others_up() {
    let world = World::new().await;
    let body = "0123456789abcdef".repeat(1_536 << 10);
    world.origin.at("/a", [cached("max-age=60", &body)]);
    let _leader = send_only(&world, "/a").await;
    world.asked("/a", 1).await;
    let reply = tokio::time::timeout(Duration::from_secs(60), world.get("/a")).await.expect("is not held up");
    assert_eq!((reply.body.len(), world.origin.asked("/a")), (24 << 20, 1));
    assert!(["cache_collapsed", "cache_hit"].contains(&reply.outcome()), "{}", reply.outcome());
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_body_breaks_off_the_others_ask_by_themselves() {
    let world = World::new().await;
    let slow = gate();
    let broken = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 8\r\n\r\nhalf";
    let broken = Answer::written(broken).then_waiting(&slow).then_closed();
    world.origin.at("/a", [broken, cached("max-age=60", "whole")]);
    let leader = send_only(&world, "/a").await;
    world.asked("/a", 1).await;
    let (replies, ()) = tokio::join!(join_all((0..10).map(|_| world.get("/a"))), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        slow.add_permits(100);
    });
    assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == "whole"));
    drop(leader);
    world.books(11).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_fetch_is_told_to_each_by_its_own() {
    let world = World::new().await;
    let slow = gate();
    world.origin.at("/a", [Answer::closed().after(&slow)]);
    let replies = crowd(&world, "/a", 10, &slow).await;
    assert_eq!(tally(&replies), counts(&[("upstream_broken", 10)]));
    assert!(replies.iter().all(|reply| reply.status == 502));
    world.books(10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_never_collapsed() {
    let world = World::new().await;
    let slow = gate();
    world.origin.at("/a", [cached("max-age=60", "body").after(&slow)]);
    let posts = join_all((0..5).map(|_| world.ask(Method::POST, "/a", &[])));
    let (replies, ()) = tokio::join!(posts, async {
        world.asked("/a", 5).await;
        slow.add_permits(100);
    });
    assert_eq!(tally(&replies), counts(&[("forwarded", 5)]));
}
