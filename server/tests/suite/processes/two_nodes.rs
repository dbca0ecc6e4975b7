//! Two processes on one database are one gateway.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures::future::join_all;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use super::{Machine, catalog};
use crate::support::client::{Reply, client, client_without_keep_alive, get};
use crate::support::database::TestDatabase;
use crate::support::origin::Origin;
use crate::support::toll::Serve;

/// From Debian's package: preloaded, it gives a process another time of day.
fn libfaketime() -> PathBuf {
    std::fs::read_dir("/usr/lib")
        .unwrap()
        .map(|dir| dir.unwrap().path().join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.exists())
        .expect("faketime is missing; install it: apt-get install faketime")
}

/// As on a machine whose clock is an hour ahead; its monotonic clock is as good as any.
fn serve_an_hour_ahead(machine: &Machine) -> Serve {
    let mut command = machine.command(&["serve"]);
    command.env("LD_PRELOAD", libfaketime()).env("FAKETIME", "+1h").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Serve::start(command)
}

fn tally(replies: &[Reply]) -> BTreeMap<(u16, String), usize> {
    let mut tally = BTreeMap::new();
    for reply in replies {
        *tally.entry((reply.status, reply.outcome().to_owned())).or_default() += 1;
    }
    tally
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_at_once_through_two_nodes_whose_clocks_disagree_are_cut_at_sixty() {
    let (db, origin) = (TestDatabase::new().await, Origin::ok().await);
    let machines = [Machine::on(&db.url), Machine::on(&db.url)];
    machines[0].apply(&catalog(&origin, "", 60, 0.0));
    let (_, key) = machines[0].create_key("acme");
    let mut nodes = [machines[0].serve(), serve_an_hour_ahead(&machines[1])];
    let urls = nodes.each_ref().map(|node| format!("{}/api/orders", node.url));

    let client = client();
    let replies = join_all((0..200).map(|n| get(&client, &urls[n % 2], &key))).await;
    let expected = BTreeMap::from([((200, "forwarded".into()), 60), ((429, "quota_spent".into()), 140)]);
    assert_eq!(tally(&replies), expected);
    assert_eq!(origin.count(), 60);

    // The clocks did disagree, and the books are by the database's.
    let refused = get(&client_without_keep_alive(), &urls[1], &key).await;
    let date = OffsetDateTime::parse(&refused.header("date").replace("GMT", "+0000"), &Rfc2822).unwrap();
    assert!((date - OffsetDateTime::now_utc()).whole_minutes() >= 59, "{date}");
    nodes.iter_mut().for_each(|node| assert_eq!(node.stop(), Some(0)));
    let wrong: i64 =
        sqlx::query_scalar("select count(*) from request_log where abs(extract(epoch from now() - at)) > 60")
            .fetch_one(&db.pool)
            .await
            .unwrap();
    assert_eq!(wrong, 0);
    machines[0].run(&["audit"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_through_the_other_node_is_an_early_retry_and_another_key_is_not() {
    let (db, origin) = (TestDatabase::new().await, Origin::ok().await);
    let machines = [Machine::on(&db.url), Machine::on(&db.url)];
    machines[0].apply(&catalog(&origin, "", 1, 0.01));
    let (_, key) = machines[0].create_key("acme");
    let (_, second_key) = machines[0].create_key("acme");
    let mut nodes = [machines[0].serve(), serve_an_hour_ahead(&machines[1])];
    let urls = nodes.each_ref().map(|node| format!("{}/api/orders", node.url));

    let client = client();
    assert_eq!(get(&client, &urls[0], &key).await.status, 200);
    let refused = get(&client, &urls[0], &key).await;
    assert_eq!((refused.status, refused.outcome()), (429, "quota_spent"));
    assert!((95..=100).contains(&refused.number("retry-after")), "{}", refused.number("retry-after"));
    let retried = get(&client, &urls[1], &key).await;
    assert_eq!((retried.status, retried.outcome()), (429, "quota_early_retry"));
    let other = get(&client, &urls[1], &second_key).await;
    assert_eq!((other.status, other.outcome()), (429, "quota_spent"));
    nodes.iter_mut().for_each(|node| assert_eq!(node.stop(), Some(0)));
    machines[0].run(&["audit"]);
}
