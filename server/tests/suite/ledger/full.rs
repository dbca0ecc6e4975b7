//! Books without room refuse, and say so afterwards.

use std::sync::Arc;

use app::domain::stage::Stage;
use time::OffsetDateTime;
use toll::clock::Clock;
use toll::ledger::{Ledger, LedgerSettings};

use super::{Books, flush, forward, start};

fn small(books: &Books) -> Ledger {
    let settings = LedgerSettings { journal_bytes: 256 << 10, segment_bytes: 64 << 10, ..Default::default() };
    Ledger::open(books.dir.path(), Arc::new(Clock::at(OffsetDateTime::now_utc())), settings).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_journal_refuses_newcomers_and_lets_all_who_are_inside_end() {
    let books = Books::new().await;
    let ledger = small(&books);
    let lane = ledger.lane(0);
    let mut inside = Vec::new();
    let mut refused = 0;
    // Long text: a record as long as they get.
    while refused < 50 {
        match lane.arrive() {
            Ok(mut entry) => {
                entry.record.path = format!("/{}", "p".repeat(4_000));
                entry.record.user_agent = "ü".repeat(4_000);
                inside.push(entry);
                if inside.len() > 40 {
                    forward(inside.remove(0));
                }
            }
            Err(_) => refused += 1,
        }
    }
    let entered = ledger.counters().arrived - refused;
    assert!(entered > 100, "{entered}");
    inside.into_iter().for_each(forward);
    let funnel = books.funnel().await;
    assert_eq!(funnel.arrived, 0);

    start(&ledger, &books.db.pool);
    let funnel = books
        .until("there is room again", |f| f.arrived == entered + refused && f.in_flight == Some(0))
        .await;
    assert_eq!(funnel.stage(Stage::Route).outcomes["books_full"], refused);
    assert_eq!(funnel.reached_upstream, entered);
    forward(lane.arrive().unwrap());
    flush(&ledger).await;
    books.assert_closed(entered + refused + 1).await;
    let counters = ledger.counters();
    assert_eq!(counters.arrived, entered + refused + 1);
    assert_eq!(counters.ended.values().sum::<u64>(), entered + refused + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_whose_place_an_unshipped_one_holds_is_refused_and_counted_under_that_one() {
    let books = Books::new().await;
    let start_of = OffsetDateTime::now_utc() - time::Duration::minutes(4_096);
    let clock = Arc::new(Clock::at(start_of));
    let ledger = Ledger::open(books.dir.path(), clock.clone(), LedgerSettings::default()).unwrap();
    let lane = ledger.lane(0);
    forward(lane.arrive().unwrap());
    clock.set(start_of + time::Duration::minutes(4_096));
    assert!(lane.arrive().is_err());
    start(&ledger, &books.db.pool);
    let (old, now) =
        ("select arrived from door_minute order by at limit 1", "select count(*) from door_minute");
    books.until("the old minute is shipped", |_| ledger.backlog() == 0).await;
    while books.count("select count(*) from request_log").await < 2 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!((books.count(old).await, books.count(now).await), (2, 1));
    clock.set(start_of + time::Duration::minutes(4_096));
    forward(lane.arrive().unwrap());
    flush(&ledger).await;
    assert_eq!((books.count(old).await, books.count(now).await), (2, 2));
    assert_eq!(books.count("select count(*) from request_log").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_outlive_a_kill() {
    let books = Books::new().await;
    let ledger = small(&books);
    let lane = ledger.lane(0);
    let mut entered = 0;
    while let Ok(entry) = lane.arrive() {
        forward(entry);
        entered += 1;
    }
    assert!((0..9).all(|_| lane.arrive().is_err()));
    drop(ledger);
    let ledger = small(&books);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(entered + 10).await;
    assert_eq!(funnel.stage(Stage::Route).outcomes["books_full"], 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_segment_that_was_shipped_is_used_again_and_the_folder_does_not_grow() {
    let books = Books::new().await;
    let ledger = small(&books);
    start(&ledger, &books.db.pool);
    let lane = ledger.lane(0);
    let mut sent = 0;
    for round in 1..=12u64 {
        for _ in 0..300 {
            forward(lane.arrive().unwrap());
            sent += 1;
        }
        books.until("the round is shipped", |f| f.reached_upstream == 300 * round).await;
    }
    let files = std::fs::read_dir(books.dir.path().join("lane-0")).unwrap().count();
    assert!(files <= 4, "door, and at most two segments and a spare: {files}");
    flush(&ledger).await;
    books.assert_closed(sent).await;
}
