//! What is in the books after a node was killed.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use uuid::Uuid;

use super::{Books, copy, end, flush, forward, forwarded, open, start};

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_were_inside_are_lost_at_the_stage_they_had_reached() {
    let books = Books::new().await;
    let ledger = books.open(1);
    let lane = ledger.lane(0);
    forward(lane.arrive().unwrap());
    let at_the_door = lane.arrive().unwrap();
    let mut waiting = lane.arrive().unwrap();
    waiting.record.partner = 7;
    waiting.at(Stage::Quota);
    let mut sent = lane.arrive().unwrap();
    (sent.record.route, sent.record.partner, sent.record.key) = (3, 7, 9);
    sent.at(Stage::Proxy);
    sent.sent();
    sent.sent();
    std::mem::forget((at_the_door, waiting, sent));
    drop(ledger);

    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(4).await;
    assert_eq!(funnel.in_flight, Some(0));
    for stage in [Stage::Route, Stage::Quota, Stage::Proxy] {
        assert_eq!(funnel.stage(stage).outcomes["gateway_lost"], 1, "{stage:?}");
    }
    assert_eq!((funnel.reached_upstream, funnel.statuses.no_answer, funnel.upstream_calls), (2, 1, 3));
    let found = "select count(*) from rollup_minute where outcome = 122 and route_id = 3 and partner_id = 7 and key_id = 9";
    assert_eq!(books.count(found).await, 1);
    assert_eq!((ledger.counters().arrived, ledger.counters().found_lost), (0, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_record_and_the_slot_the_record_stands() {
    let (books, copied) = killed_while_settling(|_| {}).await;
    let ledger = open(&copied, 1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(2).await;
    assert_eq!((funnel.reached_upstream, funnel.statuses.success, funnel.statuses.no_answer), (2, 2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_torn_was_never_written() {
    for torn_at in [0, 4, 8, 30] {
        let (books, copied) = killed_while_settling(|journal| {
            let last = offsets(journal).pop().unwrap();
            journal[last + torn_at] ^= 0x55;
        })
        .await;
        let ledger = open(&copied, 1);
        forward(ledger.lane(0).arrive().unwrap());
        start(&ledger, &books.db.pool);
        flush(&ledger).await;
        let funnel = books.assert_closed(3).await;
        assert_eq!((funnel.statuses.success, funnel.statuses.no_answer), (2, 1), "torn at byte {torn_at}");
        assert_eq!(funnel.stage(Stage::Proxy).outcomes["gateway_lost"], 1);
    }
}

/// Two requests are forwarded; the node is killed when the second is in the journal and its slot is still open.
async fn killed_while_settling(then: impl Fn(&mut [u8])) -> (Books, PathBuf) {
    let books = Books::new().await;
    let ledger = books.open(1);
    let lane = ledger.lane(0);
    forward(lane.arrive().unwrap());
    let mut entry = lane.arrive().unwrap();
    entry.at(Stage::Proxy);
    entry.sent();
    let door = std::fs::read(books.dir.path().join("lane-0/door")).unwrap();
    entry.settle(forwarded(204));
    let copied = books.dir.path().join("copy");
    copy(&books.dir.path().join("lane-0"), &copied.join("lane-0"));
    std::fs::write(copied.join("lane-0/door"), door).unwrap();
    for file in std::fs::read_dir(copied.join("lane-0")).unwrap().map(|file| file.unwrap().path()) {
        let mut bytes = std::fs::read(&file).unwrap();
        // Of the journal's files the one with a first record; others are spare.
        if file.to_string_lossy().contains("journal-") && bytes[8..16] != [0; 8] {
            then(&mut bytes);
            std::fs::write(&file, bytes).unwrap();
        }
    }
    (books, copied)
}

/// Where the records of a segment begin.
fn offsets(journal: &[u8]) -> Vec<usize> {
    let mut offsets = Vec::new();
    let mut at = 64;
    loop {
        let length = u32::from_le_bytes(journal[at..at + 4].try_into().unwrap()) as usize;
        if length == 0 {
            return offsets;
        }
        offsets.push(at);
        at += 8 + length;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lanes_that_an_earlier_run_had_more_are_shipped_too() {
    let books = Books::new().await;
    let ledger = books.open(3);
    (0..3).for_each(|n| forward(ledger.lane(n).arrive().unwrap()));
    std::mem::forget(ledger.lane(2).arrive().unwrap());
    drop(ledger);
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(4).await;
    assert_eq!((funnel.statuses.success, funnel.stage(Stage::Route).outcomes["gateway_lost"]), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_after_shipping_ships_nothing_twice() {
    let books = Books::new().await;
    for round in 1..=4 {
        let ledger = books.open(1);
        start(&ledger, &books.db.pool);
        for _ in 0..50 {
            forward(ledger.lane(0).arrive().unwrap());
        }
        if round % 2 == 0 {
            flush(&ledger).await;
        } else {
            books.until("some are shipped", |f| f.arrived > (round - 1) * 50).await;
        }
    }
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    books.assert_closed(200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_was_acknowledged_before_a_kill_is_in_the_books_once() {
    let books = Books::new().await;
    let mut acknowledged = HashSet::new();
    for round in 0..6 {
        let told = run_and_kill(books.dir.path(), Duration::from_millis(60 + 40 * round));
        assert!(!told.is_empty(), "the child did something");
        acknowledged.extend(told);
    }
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let rows: Vec<(Uuid, i16)> =
        sqlx::query_as("select id, outcome from request_log").fetch_all(&books.db.pool).await.unwrap();
    let settled: HashSet<Uuid> = rows
        .iter()
        .filter(|(_, outcome)| *outcome != Outcome::GatewayLost.code())
        .map(|(id, _)| *id)
        .collect();
    let lost = rows.len() - settled.len();
    assert!(acknowledged.is_subset(&settled));
    // Each round at most one a lane was between its arrival and its end, and three were inside all the time.
    assert!((6 * 3..=6 * (3 + 2)).contains(&lost), "{lost} lost");
    books.assert_closed(rows.len() as u64).await;
}

/// Runs the test below in a process of its own and kills it; returns what it said was settled.
fn run_and_kill(dir: &Path, after: Duration) -> Vec<Uuid> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ledger::killed::a_node_that_is_going_to_be_killed", "--ignored", "--nocapture"])
        .env("TOLL_TEST_KILLED_DIR", dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let id = |line: &String| line.split("settled ").nth(1).and_then(|id| Uuid::parse_str(id).ok());
    let mut told = Vec::new();
    while told.is_empty() {
        told.extend(lines.next().unwrap().ok().as_ref().and_then(id));
    }
    let reading =
        std::thread::spawn(move || lines.map_while(Result::ok).filter_map(|l| id(&l)).collect::<Vec<_>>());
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    told.extend(reading.join().unwrap());
    told
}

#[test]
#[ignore = "runs until it is killed, by the test above"]
fn a_node_that_is_going_to_be_killed() {
    let ledger = open(Path::new(&std::env::var("TOLL_TEST_KILLED_DIR").unwrap()), 2);
    let inside: Vec<_> = (0..3).map(|n| ledger.lane(n).arrive().unwrap()).collect();
    std::thread::scope(|threads| {
        for n in 0..2 {
            let lane = ledger.lane(n);
            threads.spawn(move || {
                loop {
                    let mut entry = lane.arrive().unwrap();
                    let id = entry.id();
                    entry.settle(end(Stage::Key, Outcome::KeyMissing));
                    println!("settled {id}");
                }
            });
        }
    });
    drop(inside);
}
