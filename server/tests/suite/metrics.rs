//! What Prometheus reads is what the funnel says.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toll::telemetry::metrics::encode;

use crate::outcomes::house::House;
use crate::support::books::closed_books;
use crate::support::toll::PATIENCE;

/// Samples by name and labels.
fn scrape(house: &House) -> BTreeMap<String, u64> {
    let text = encode(&house.toll.node.probe()).unwrap();
    let samples = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
    samples.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_equal_the_funnel() {
    let house = House::open().await;
    for path in [
        "/orders/7",
        "/orders/fail",
        "/nowhere",
        "/dead",
        "/stored/keep",
        "/stored/keep",
        "/orders/close",
        "/closed",
    ] {
        house.get(path).await;
    }
    house.ask("GET", "/orders", &[]).await;
    let leaving = house.begin("POST", "/orders", &[("Content-Length", "10")], "four").await;
    house.until_arrived(10).await;
    drop(leaving);
    let calls = house.origin.count();
    let leaving = house.begin("GET", "/orders/hold", &[], "").await;
    // What was closed is asked for again if it came on a connection that had served before.
    house.origin.until_count(calls + 1).await;
    drop(leaving);

    let funnel = closed_books(&house.toll).await;
    let mut expected = BTreeMap::from([
        ("toll_arrivals_total".to_owned(), funnel.arrived),
        ("toll_in_flight".into(), 0),
        ("toll_upstream_calls_total".into(), funnel.upstream_calls),
        ("toll_metered_locally_total".into(), funnel.metered_locally),
        ("toll_unreadable_total".into(), 0),
        ("toll_reached_upstream_total{class=\"2xx\"}".into(), funnel.statuses.success),
        ("toll_reached_upstream_total{class=\"5xx\"}".into(), funnel.statuses.server_error),
        ("toll_reached_upstream_total{class=\"none\"}".into(), funnel.statuses.no_answer),
        ("toll_journal_records".into(), 0),
        ("toll_database_up".into(), 1),
        ("toll_ready".into(), 1),
    ]);
    for line in &funnel.stages {
        for (outcome, count) in &line.outcomes {
            let name =
                format!("toll_requests_total{{stage=\"{}\",outcome=\"{outcome}\"}}", line.stage.name());
            expected.insert(name, *count);
        }
    }
    let mut said = scrape(&house);
    said.retain(|name, _| !name.starts_with("toll_journal_bytes"));
    assert_eq!(said, expected);
    assert_eq!((funnel.arrived, funnel.upstream_calls), (11, calls + 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_journal_takes_up_is_what_its_files_do_and_within_its_bound() {
    let house = House::with(&[("journal_bytes", "1MiB")]).await;
    house.get("/orders").await;
    closed_books(&house.toll).await;
    let deadline = Instant::now() + PATIENCE;
    // The next file may be about to be made.
    let said = loop {
        let said = scrape(&house);
        if said["toll_journal_bytes"] == on_disk(&house) {
            break said;
        }
        assert!(
            Instant::now() < deadline,
            "{} said, {} on disk",
            said["toll_journal_bytes"],
            on_disk(&house)
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(said["toll_journal_bytes_max"], 1 << 20);
    assert!((1..=1 << 20).contains(&said["toll_journal_bytes"]));
}

fn on_disk(house: &House) -> u64 {
    let lanes = ["lane-0", "lane-1"].map(|lane| house.toll.data.path().join("ledger").join(lane));
    let files = lanes.iter().flat_map(|lane| std::fs::read_dir(lane).unwrap()).map(Result::unwrap);
    let journal =
        files.filter(|file| file.file_name().to_str().is_some_and(|name| name.starts_with("journal-")));
    journal.map(|file| file.metadata().map_or(0, |metadata| metadata.len())).sum()
}
