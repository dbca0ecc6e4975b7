//! What operators have the caches forget, on every node within a second.

use std::time::{Duration, Instant};

use app::domain::purge::Target;
use app::purge::{purge, recent};

use super::origin::{answer, cached, gate};
use super::world::{World, until};
use crate::processes::Machine;
use crate::support::client::{Reply, get};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway};

async fn forget(world: &World, kind: &str, text: &str) {
    let target = Target::read(kind, text).unwrap();
    let purge = purge(&world.toll.db.pool, &target, "ops@toll.example").await.unwrap();
    in_force(&[&world.toll], purge.seq).await;
}

/// Waits until all these nodes have followed that purge.
async fn in_force(nodes: &[&TestGateway], seq: i64) {
    let follow = || nodes.iter().all(|node| node.node.gateway.cache.purges_seen() >= seq);
    until(follow, "the purge did not come into force").await;
}

/// A second node on the same database.
async fn another_node(world: &World) -> TestGateway {
    let db = TestDatabase { pool: world.toll.db.pool.clone(), url: world.toll.db.url.clone() };
    TestGateway::on(db, &Options::default()).await
}

/// Stores these and returns them.
async fn store<'t>(world: &World, targets: &[&'t str]) -> Vec<&'t str> {
    for target in targets {
        world.origin.at(target, [cached("max-age=600", "body")]);
        world.get(target).await;
        assert_eq!(world.get(target).await.outcome(), "cache_hit");
    }
    targets.to_vec()
}

/// Which of them are stored.
async fn held<'t>(world: &World, targets: &[&'t str]) -> Vec<&'t str> {
    let mut held = Vec::new();
    for target in targets {
        let wish = [("cache-control", "only-if-cached")];
        if world.get_with(target, &wish).await.outcome() == "cache_hit" {
            held.push(*target);
        }
    }
    held
}

#[tokio::test(flavor = "multi_thread")]
async fn one_url_is_forgotten_in_all_its_variants() {
    let world = World::new().await;
    let all = store(&world, &["/a", "/a?x=1&y=2", "/a?x=1", "/a/b"]).await;
    forget(&world, "url", "/api/c/a?y=2&x=1").await;
    assert_eq!(held(&world, &all).await, ["/a", "/a?x=1", "/a/b"]);
    forget(&world, "url", &world.url("/a")).await;
    assert_eq!(held(&world, &all).await, ["/a?x=1", "/a/b"]);
    let vary = [("cache-control", "max-age=600"), ("vary", "foo")];
    world.origin.at("/v", [answer(200, &vary, "body")]);
    for foo in ["1", "2"] {
        world.get_with("/v", &[("foo", foo)]).await;
    }
    forget(&world, "url", "/api/c/v").await;
    for foo in ["1", "2"] {
        assert_eq!(world.get_with("/v", &[("foo", foo)]).await.outcome(), "forwarded");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_below_a_prefix_are_forgotten() {
    let world = World::new().await;
    let all = store(&world, &["/a/1", "/a/2?x=1", "/ab", "/b/a/1"]).await;
    forget(&world, "prefix", "/api/c/a/").await;
    assert_eq!(held(&world, &all).await, ["/ab", "/b/a/1"]);
    forget(&world, "prefix", "/api/").await;
    assert!(held(&world, &all).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_with_a_tag_are_forgotten() {
    let world = World::new().await;
    for (target, name, tags) in [
        ("/1", "cache-tag", "order-7, Customer-1"),
        ("/2", "surrogate-key", "order-8 customer-1"),
        ("/3", "cache-tag", "order-70"),
    ] {
        world.origin.at(target, [answer(200, &[("cache-control", "max-age=600"), (name, tags)], "body")]);
        world.get(target).await;
    }
    let all = ["/1", "/2", "/3"];
    forget(&world, "tag", "order-7").await;
    assert_eq!(held(&world, &all).await, ["/2", "/3"]);
    forget(&world, "tag", "CUSTOMER-1").await;
    assert_eq!(held(&world, &all).await, ["/3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_for_before_a_purge_is_not_stored_after_it() {
    let world = World::new().await;
    let slow = gate();
    world.origin.at("/a", [cached("max-age=600", "old").after(&slow), cached("max-age=600", "new")]);
    let (reply, ()) = tokio::join!(world.get("/a"), async {
        world.asked("/a", 1).await;
        forget(&world, "url", "/api/c/a").await;
        slow.add_permits(1);
    });
    assert_eq!(reply.body, "old");
    assert_eq!(world.get("/a").await.body, "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purge_by_command_is_in_force_on_every_node() {
    let world = World::new().await;
    let other = another_node(&world).await;
    world.origin.at("/a", [cached("max-age=600", "body")]);
    let urls = [world.url("/a"), other.url("/api/c/a")];
    for url in &urls {
        get(&world.client, url, &world.key).await;
        assert_eq!(get(&world.client, url, &world.key).await.outcome(), "cache_hit");
    }
    let machine = Machine::on(&world.toll.db.url);
    let told = machine.run(&["purge", "url", "/api/c/a", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told[0]["kind"], &told[0]["target"]), (&"url".into(), &"/api/c/a".into()));
    in_force(&[&world.toll, &other], 1).await;
    for url in &urls {
        let wish =
            world.client.get(url).header("x-api-key", &world.key).header("cache-control", "only-if-cached");
        assert_eq!(Reply::of(wish).await.outcome(), "cache_only");
    }
    machine.run(&["purge", "tag", "a", "b"]);
    machine.run(&["purge", "prefix", "/api/c"]);
    let list = machine.run(&["purge", "list", "--last", "3"]);
    let kinds: Vec<_> = list.lines().map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(kinds, ["prefix", "tag", "tag"]);
    let refused = machine.command(&["purge", "url", "/elsewhere"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let listed = recent(&world.toll.db.pool, 10).await.unwrap();
    assert_eq!(listed.iter().map(|purge| purge.seq).collect::<Vec<_>>(), [4, 3, 2, 1]);
    assert!(listed.iter().all(|purge| purge.by == "toll purge"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_missed_what_is_no_longer_told_forgets_everything() {
    let world = World::new().await;
    let all = store(&world, &["/a", "/b"]).await;
    // Two purges, the first of which is gone before the node hears of either.
    let mut tx = world.toll.db.pool.begin().await.unwrap();
    sqlx::query("update purge_number set last = last + 2").execute(&mut *tx).await.unwrap();
    sqlx::query("insert into purge (seq, kind, target, by) values (2, 'tag', 'nothing', 'test')")
        .execute(&mut *tx)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    in_force(&[&world.toll], 2).await;
    assert!(held(&world, &all).await.is_empty());
}

/// A purge of which the nodes are not told.
async fn purge_silently(world: &World) -> i64 {
    let sql = "with next as (update purge_number set last = last + 1 returning last)
               insert into purge (seq, kind, target, by) select last, 'tag', 'nothing', 'test' from next
               returning seq";
    sqlx::query_scalar(sql).fetch_one(&world.toll.db.pool).await.unwrap()
}

/// The fastest of five counts: a loaded machine only ever adds to it.
#[tokio::test(flavor = "multi_thread")]
async fn a_purge_is_in_force_on_every_node_within_a_second_even_if_the_notice_is_lost() {
    let world = World::new().await;
    let other = another_node(&world).await;
    for is_told in [true, false] {
        let mut fastest = Duration::MAX;
        for n in 0..5 {
            let seq = match is_told {
                true => purge(&world.toll.db.pool, &Target::Tag(format!("{n}")), "test").await.unwrap().seq,
                false => purge_silently(&world).await,
            };
            let committed = Instant::now();
            in_force(&[&world.toll, &other], seq).await;
            fastest = fastest.min(committed.elapsed());
        }
        assert!(fastest < Duration::from_secs(1), "{fastest:?}, told: {is_told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn purges_at_once_get_numbers_without_a_gap() {
    let world = World::new().await;
    let tags = (0..40).map(|n| Target::Tag(format!("tag-{n}")));
    let purges = futures::future::join_all(tags.map(|tag| {
        let db = world.toll.db.pool.clone();
        async move { purge(&db, &tag, "test").await.unwrap().seq }
    }));
    let mut numbers = purges.await;
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<i64>>());
}
