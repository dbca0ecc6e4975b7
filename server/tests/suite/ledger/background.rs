//! Calls that no request waits for: they count as calls, and as nothing else.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use tempfile::TempDir;
use toll::ledger::record::End;
use toll::ledger::{Entry, Ledger};

use super::{Books, copy, end, flush, open, start};

fn stale() -> End {
    End { status: 200, ..end(Stage::Cache, Outcome::CacheStale) }
}

/// A request that is given a stale answer, and what asks for a newer one.
fn revalidating(ledger: &Ledger) -> (Entry, Entry) {
    let mut entry = ledger.lane(0).arrive().unwrap();
    entry.record.route = 7;
    let mut background = entry.for_background().unwrap();
    background.at(Stage::Proxy);
    background.sent();
    (entry, background)
}

#[tokio::test(flavor = "multi_thread")]
async fn they_add_to_the_calls_of_the_requests_that_caused_them() {
    let books = Books::new().await;
    let ledger = books.open(1);
    start(&ledger, &books.db.pool);
    for first in [true, false] {
        let (mut entry, background) = revalidating(&ledger);
        if first {
            drop(background);
            entry.settle(stale());
        } else {
            entry.settle(stale());
            flush_some(&books).await;
            drop(background);
        }
    }
    // One that was not sent after all leaves no trace.
    let mut entry = ledger.lane(0).arrive().unwrap();
    drop(entry.for_background());
    entry.settle(stale());
    flush(&ledger).await;
    let funnel = books.assert_closed(3).await;
    assert_eq!((funnel.upstream_calls, funnel.reached_upstream, funnel.in_flight), (2, 0, Some(0)));
    assert_eq!(funnel.stage(Stage::Cache).outcomes["cache_stale"], 3);
    assert_eq!(ledger.counters().upstream_calls, 2);
    assert_eq!(books.count("select sum(upstream_calls)::bigint from rollup_day where route_id = 7").await, 2);
    assert_eq!(books.count("select count(*) from request_log").await, 3);
}

/// Until the first two requests are in the books.
async fn flush_some(books: &Books) {
    books.until("two are in the books", |funnel| funnel.arrived == 2 && funnel.in_flight == Some(0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_ships_those_that_were_written_and_loses_no_request() {
    let books = Books::new().await;
    let ledger = books.open(1);
    let (entry, background) = revalidating(&ledger);
    drop(background);
    let copied = TempDir::new().unwrap();
    copy(books.dir.path(), copied.path());
    drop((entry, ledger));
    let ledger = open(copied.path(), 1);
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
    let funnel = books.assert_closed(1).await;
    assert_eq!((funnel.upstream_calls, funnel.in_flight, funnel.unaccounted), (1, Some(0), Some(0)));
    assert_eq!(funnel.stage(Stage::Cache).outcomes.get("cache_stale"), None);
}
