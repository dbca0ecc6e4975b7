//! What is changed by a command is in force on every process within a second: judged by the median of several changes, for
//! the machine may be busy with other things at times.

use std::time::{Duration, Instant};

use super::{Machine, catalog};
use crate::support::client::{Reply, client, get};
use crate::support::database::TestDatabase;
use crate::support::origin::Origin;
use crate::support::toll::{PATIENCE, Serve};

const WITHIN: Duration = Duration::from_secs(1);
const CHANGES: usize = 5;

/// Two nodes on one database.
async fn set_up(origin: &Origin) -> ([Machine; 2], [Serve; 2]) {
    let db = TestDatabase::new().await;
    let machines = [Machine::on(&db.url), Machine::on(&db.url)];
    machines[0].apply(&catalog(origin, "", 100_000, 0.0));
    let nodes = machines.each_ref().map(Machine::serve);
    (machines, nodes)
}

/// Asks until `is_so`.
async fn until(url: &str, key: &str, is_so: impl Fn(&Reply) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    let client = client();
    loop {
        let reply = get(&client, url, key).await;
        if is_so(&reply) {
            return;
        }
        assert!(Instant::now() < deadline, "still {} {}", reply.status, reply.outcome());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_refused_by_every_process_within_a_second() {
    let origin = Origin::ok().await;
    let (machines, nodes) = set_up(&origin).await;
    let mut took = Vec::new();
    for _ in 0..CHANGES {
        let (id, key) = machines[0].create_key("acme");
        let urls = nodes.each_ref().map(|node| format!("{}/api/orders", node.url));
        for url in &urls {
            assert_eq!(get(&client(), url, &key).await.status, 200);
        }
        machines[0].run(&["keys", "revoke", &id]);
        let revoked = Instant::now();
        for url in &urls {
            until(url, &key, |reply| reply.outcome() == "key_revoked").await;
        }
        took.push(revoked.elapsed());
    }
    assert_quick(took);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_applied_catalog_is_in_force_on_every_process_within_a_second() {
    let (origin, other) = (Origin::ok().await, Origin::with(&[], "the other").await);
    let (machines, nodes) = set_up(&origin).await;
    let (_, key) = machines[0].create_key("acme");
    let mut took = Vec::new();
    for n in 0..CHANGES {
        // A new route, and an old one that leads elsewhere now.
        let (to, body) = if n % 2 == 0 { (&other, "the other") } else { (&origin, "ok") };
        let more = format!("[[route]]\nname = \"more{n}\"\npath = \"/more{n}\"\nupstream = \"orders\"\n");
        machines[1].apply(&(catalog(to, "", 100_000, 0.0) + &more));
        let applied = Instant::now();
        for node in &nodes {
            for path in [&format!("more{n}"), "orders"] {
                until(&format!("{}/api/{path}", node.url), &key, |reply| reply.body == body).await;
            }
        }
        took.push(applied.elapsed());
    }
    assert_quick(took);
}

fn assert_quick(mut took: Vec<Duration>) {
    took.sort();
    assert!(took[CHANGES / 2] < WITHIN, "{took:?}");
}
