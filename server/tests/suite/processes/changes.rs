//! What is changed by a command is in force on every process within a second.

use std::time::{Duration, Instant};

use super::{Machine, catalog};
use crate::support::client::{Reply, client, get};
use crate::support::database::TestDatabase;
use crate::support::origin::Origin;
use crate::support::toll::Serve;

const WITHIN: Duration = Duration::from_secs(1);

/// Two nodes that have both met the key, whose id comes first.
async fn set_up(origin: &Origin) -> ([Machine; 2], [Serve; 2], String, String) {
    let db = TestDatabase::new().await;
    let machines = [Machine::on(&db.url), Machine::on(&db.url)];
    machines[0].apply(&catalog(origin, "", 1_000, 0.0));
    let (id, key) = machines[0].create_key("acme");
    let nodes = machines.each_ref().map(Machine::serve);
    for node in &nodes {
        assert_eq!(get(&client(), &format!("{}/api/orders", node.url), &key).await.status, 200);
    }
    (machines, nodes, id, key)
}

/// Asks until `is_so`, for a second from `since`.
async fn within_a_second(since: Instant, url: &str, key: &str, is_so: impl Fn(&Reply) -> bool) {
    let client = client();
    loop {
        let reply = get(&client, url, key).await;
        if is_so(&reply) {
            return;
        }
        assert!(since.elapsed() < WITHIN, "still {} {}", reply.status, reply.outcome());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_is_refused_by_every_process_within_a_second() {
    let origin = Origin::ok().await;
    let (machines, nodes, id, key) = set_up(&origin).await;
    machines[0].run(&["keys", "revoke", &id]);
    let revoked = Instant::now();
    for node in &nodes {
        let url = format!("{}/api/orders", node.url);
        within_a_second(revoked, &url, &key, |reply| reply.outcome() == "key_revoked").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_applied_catalog_is_in_force_on_every_process_within_a_second() {
    let (origin, other) = (Origin::ok().await, Origin::with(&[], "the other").await);
    let (machines, nodes, _, key) = set_up(&origin).await;
    let more = "[[route]]\nname = \"more\"\npath = \"/more\"\nupstream = \"orders\"\n";
    machines[1].apply(&format!("{}{more}", catalog(&other, "", 1_000, 0.0)));
    let applied = Instant::now();
    for node in &nodes {
        // A new route, and an old one that leads elsewhere now.
        for path in ["more", "orders"] {
            let url = format!("{}/api/{path}", node.url);
            within_a_second(applied, &url, &key, |reply| reply.body == "the other").await;
        }
    }
}
