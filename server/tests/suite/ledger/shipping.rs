//! From many threads to the database, exactly once.

use std::time::Duration;

use app::domain::funnel::Funnel;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use toll::ledger::Health;

use super::{Books, copy, end, flush, forward, open, start, until_health};
use crate::support::database::TestDatabase;
use crate::support::flaky::Flaky;

#[tokio::test(flavor = "multi_thread")]
async fn many_threads_settle_at_once_and_every_request_is_counted_once() {
    let books = Books::new().await;
    let ledger = books.open(4);
    start(&ledger, &books.db.pool);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let lane = ledger.lane(thread);
            threads.spawn(move || {
                for n in 0..5_000 {
                    let mut entry = lane.arrive().unwrap();
                    match n % 5 {
                        0 => entry.settle(end(Stage::Route, Outcome::NoRoute)),
                        1 => {
                            entry.at(Stage::Quota);
                            entry.settle(end(Stage::Quota, Outcome::QuotaSpent));
                        }
                        2 => drop(entry),
                        _ => forward(entry),
                    }
                }
            });
        }
    });
    flush(&ledger).await;
    let funnel = books.assert_closed(20_000).await;
    assert_eq!(funnel.in_flight, Some(0));
    assert_eq!(funnel.stage(Stage::Route).outcomes["no_route"], 4_000);
    assert_eq!(funnel.stage(Stage::Route).outcomes["client_gone"], 4_000);
    assert_eq!(funnel.stage(Stage::Quota).outcomes["quota_spent"], 4_000);
    assert_eq!(
        (funnel.reached_upstream, funnel.statuses.success, funnel.upstream_calls),
        (8_000, 8_000, 8_000)
    );
    let counters = ledger.counters();
    assert_eq!((counters.arrived, counters.in_flight), (20_000, 0));
    assert_eq!(counters.ended.values().sum::<u64>(), 20_000);
    assert_eq!(books.count("select count(*) from node where stopped_at is not null").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_inside_is_in_flight_and_the_books_add_up_meanwhile() {
    let books = Books::new().await;
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    let lane = ledger.lane(0);
    let inside: Vec<_> = (0..3).map(|_| lane.arrive().unwrap()).collect();
    forward(lane.arrive().unwrap());
    let funnel = books.until("all is shipped", |f| f.arrived == 4 && f.reached_upstream == 1).await;
    assert_eq!((funnel.in_flight, funnel.unaccounted), (Some(3), Some(0)));
    books.assert_closed(4).await;
    drop(inside);
    books.until("nobody is inside", |f| f.in_flight == Some(0)).await;
    books.assert_closed(4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unwinding_thread_settles_as_internal() {
    let books = Books::new().await;
    let ledger = books.open(1);
    let lane = ledger.lane(0);
    let panicked = std::thread::spawn(move || {
        let mut entry = lane.arrive().unwrap();
        entry.at(Stage::Cache);
        panic!("as a defect would");
    });
    assert!(panicked.join().is_err());
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(1).await;
    assert_eq!(funnel.stage(Stage::Cache).outcomes["internal"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_answer_was_lost_counts_once() {
    let books = Books::new().await;
    let flaky = Flaky::before(&books.db.url).await;
    let ledger = books.open(1);
    start(&ledger, &flaky.pool().await);
    let lane = ledger.lane(0);
    forward(lane.arrive().unwrap());
    books.until("the first is shipped", |f| f.reached_upstream == 1).await;
    for round in 0..5u64 {
        flaky.lose_next_answer();
        for _ in 0..100 {
            forward(lane.arrive().unwrap());
        }
        books.until("the batch is shipped", |f| f.reached_upstream == 1 + 100 * (round + 1)).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    flush(&ledger).await;
    assert_eq!(flaky.answers_lost(), 5);
    books.assert_closed(501).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_whose_mark_has_been_moved_writes_nothing() {
    let books = Books::new().await;
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    let lane = ledger.lane(0);
    forward(lane.arrive().unwrap());
    books.until("the first is shipped", |f| f.reached_upstream == 1).await;
    // As if a statement that was given up had come through after all, and had brought record 2.
    let moved = "update lane set shipped = 2, batch = batch + 1";
    sqlx::query(moved).execute(&books.db.pool).await.unwrap();
    forward(lane.arrive().unwrap());
    books.until("the second has been passed over", |_| ledger.backlog() == 0).await;
    assert_eq!(books.count("select count(*) from request_log").await, 1);
    forward(lane.arrive().unwrap());
    flush(&ledger).await;
    assert_eq!(books.count("select count(*) from request_log").await, 2);
    assert_eq!(books.count("select max(seq) from request_log").await, 3);
    let funnel = books.funnel().await;
    assert_eq!(
        (funnel.arrived, funnel.unaccounted),
        (3, Some(1)),
        "the one that nobody has written is missed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_the_database_does_not_take_does_not_hold_up_the_books() {
    let books = Books::new().await;
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    let mut entry = ledger.lane(0).arrive().unwrap();
    entry.record.path = "/a\0b".into();
    entry.record.user_agent = "\0\u{fffd}\u{10ffff}".into();
    entry.record.bytes_out = u64::MAX;
    entry.record.tokens_after = Some(f64::NAN);
    forward(entry);
    flush(&ledger).await;
    books.assert_closed(1).await;
    assert_eq!(books.count("select count(*) from request_log where path = '/ab'").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_is_away_the_journal_keeps_what_comes() {
    let books = Books::new().await;
    let flaky = Flaky::before(&books.db.url).await;
    let ledger = books.open(2);
    start(&ledger, &flaky.pool().await);
    forward(ledger.lane(0).arrive().unwrap());
    let known = |f: &Funnel| f.reached_upstream == 1 && ledger.backlog() == 0;
    books.until("the first is shipped, and the node has been told", known).await;
    flaky.go_away();
    for n in 0..6_000 {
        forward(ledger.lane(n % 2).arrive().unwrap());
    }
    until_health(&ledger, |health| matches!(health, Health::Waiting(_))).await;
    assert_eq!(ledger.backlog(), 6_000);
    assert_eq!(books.funnel().await.arrived, 1);
    flaky.come_back();
    books.until("all is shipped", |f| f.reached_upstream == 6_001).await;
    flush(&ledger).await;
    books.assert_closed(6_001).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copied_data_folder_is_noticed_by_the_node_that_was_there_first() {
    let books = Books::new().await;
    let first = books.open(1);
    start(&first, &books.db.pool);
    forward(first.lane(0).arrive().unwrap());
    books.until("the first is shipped", |f| f.reached_upstream == 1).await;
    let elsewhere = tempfile::tempdir().unwrap();
    copy(books.dir.path(), elsewhere.path());
    let second = open(elsewhere.path(), 1);
    assert_eq!(second.identity(), first.identity());
    start(&second, &books.db.pool);
    forward(second.lane(0).arrive().unwrap());
    books.until("the second is shipped", |f| f.reached_upstream == 2).await;
    forward(first.lane(0).arrive().unwrap());
    until_health(&first, |health| matches!(health, Health::Stopped(_))).await;
    let Health::Stopped(why) = first.health() else { panic!("{:?}", first.health()) };
    assert!(why.contains("data folder"), "{why}");
    assert_eq!(second.health(), Health::Shipping);
    flush(&second).await;
    books.assert_closed(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_that_is_older_than_the_books_ships_nothing() {
    let books = Books::new().await;
    let ledger = books.open(1);
    forward(ledger.lane(0).arrive().unwrap());
    let elsewhere = tempfile::tempdir().unwrap();
    copy(books.dir.path(), elsewhere.path());
    forward(ledger.lane(0).arrive().unwrap());
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let older = open(elsewhere.path(), 1);
    start(&older, &books.db.pool);
    assert!(older.flush(Duration::from_secs(20)).await.is_err());
    assert!(matches!(older.health(), Health::Stopped(_)), "{:?}", older.health());
    books.assert_closed(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_ship_to_the_same_minutes_without_meeting() {
    let db = TestDatabase::new().await;
    let books = Books { db, dir: tempfile::tempdir().unwrap() };
    let elsewhere = tempfile::tempdir().unwrap();
    let ledgers = [books.open(2), open(elsewhere.path(), 2)];
    for ledger in &ledgers {
        start(ledger, &books.db.pool);
    }
    std::thread::scope(|threads| {
        for ledger in &ledgers {
            threads.spawn(|| (0..4_000).for_each(|n| forward(ledger.lane(n % 2).arrive().unwrap())));
        }
    });
    for ledger in &ledgers {
        flush(ledger).await;
    }
    books.assert_closed(8_000).await;
    assert_eq!(books.count("select count(distinct node_id) from total_day").await, 2);
}
