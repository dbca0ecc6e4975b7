//! Partitions made ahead, things dropped by age, and the partition that takes what fits no day.

use std::sync::Arc;
use std::time::Instant;

use app::domain::window::Window;
use sqlx::AssertSqlSafe;
use time::{Duration, OffsetDateTime};
use toll::clock::Clock;
use toll::ledger::housekeeping::{Retention, keep};
use toll::ledger::{Ledger, LedgerSettings};

use super::{Books, flush, forward, start};
use crate::support::toll::PATIENCE;

/// Ships a request for each of these times ago.
async fn ship(books: &Books, ages: &[Duration]) {
    let clock = Arc::new(Clock::at(OffsetDateTime::now_utc()));
    let ledger = Ledger::open(books.dir.path(), clock.clone(), LedgerSettings::default()).unwrap();
    for age in ages {
        clock.set(OffsetDateTime::now_utc() - *age);
        forward(ledger.lane(0).arrive().unwrap());
    }
    start(&ledger, &books.db.pool);
    flush(&ledger).await;
}

async fn tidy(books: &Books) {
    let mut db = books.db.pool.acquire().await.unwrap();
    // The ledger that was flushed may still be at it.
    while !keep(&mut db, Retention::default()).await.unwrap() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn partitions(books: &Books) -> i64 {
    books.count("select count(*) from pg_inherits where inhparent = 'request_log'::regclass").await
}

/// As if today's partition had not been made ahead: its rows are in the default one.
async fn lose_today(books: &Books) {
    let today = OffsetDateTime::now_utc().date();
    let name = format!("request_log_{:04}{:02}{:02}", today.year(), u8::from(today.month()), today.day());
    for sql in [
        format!("create table kept as table {name}"),
        format!("drop table {name}"),
        "insert into request_log_default table kept".into(),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&books.db.pool).await.unwrap();
    }
}

/// Waits until somebody waits for a table, or a condition holds.
async fn until_waited_for(books: &Books, table: &str, or: &str) {
    let waits = format!(
        "select {or} or exists (
             select from pg_locks where relation = '{table}'::regclass and not granted
                 and database = (select oid from pg_database where datname = current_database()))"
    );
    let deadline = Instant::now() + PATIENCE;
    while !sqlx::query_scalar::<_, bool>(AssertSqlSafe(waits.clone()))
        .fetch_one(&books.db.pool)
        .await
        .unwrap()
    {
        assert!(Instant::now() < deadline, "nobody waits for {table}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn partitions_stand_ready_and_rows_that_came_before_them_move_in() {
    let books = Books::new().await;
    ship(&books, &[Duration::ZERO, Duration::days(1), Duration::days(100 * 365 / 50)]).await;
    // The shipper's own housekeeping may have come before or after the rows.
    sqlx::query("delete from ledger_kept").execute(&books.db.pool).await.unwrap();
    tidy(&books).await;
    assert_eq!(partitions(&books).await, 1 + 9);
    assert_eq!(books.count("select count(*) from request_log").await, 2, "two years ago is past its age");
    assert_eq!(books.count("select count(*) from request_log_default").await, 0);
    tidy(&books).await;
    assert_eq!(partitions(&books).await, 1 + 9);
    lose_today(&books).await;
    assert_eq!(books.count("select count(*) from request_log_default").await, 1);
    tidy(&books).await;
    assert_eq!(books.count("select count(*) from request_log_default").await, 0);
    assert_eq!(books.count("select count(*) from request_log").await, 2);
    assert_eq!(partitions(&books).await, 1 + 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_odd_timestamp_does_not_block_the_shipper() {
    let books = Books::new().await;
    ship(&books, &[Duration::ZERO, Duration::days(-300 * 365), Duration::days(200 * 365), Duration::ZERO])
        .await;
    tidy(&books).await;
    let window = Window::new(
        OffsetDateTime::now_utc() + Duration::days(299 * 365),
        OffsetDateTime::now_utc() + Duration::days(301 * 365),
    )
    .unwrap();
    let audit = app::books::audit::audit(&books.db.pool, window).await.unwrap();
    assert_eq!((audit.agrees, audit.arrived, audit.log), (true, 1, 1), "{audit:?}");
    books.assert_closed(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_thing_is_dropped_at_its_age_and_what_is_left_agrees() {
    let books = Books::new().await;
    let ages = [0, 10, 20, 34, 40, 390, 410];
    ship(&books, &ages.map(Duration::days)).await;
    tidy(&books).await;
    let left = async |table: &str, column: &str| {
        let count = format!("select coalesce(sum({column}), 0)::bigint from {table}");
        sqlx::query_scalar::<_, i64>(AssertSqlSafe(count)).fetch_one(&books.db.pool).await.unwrap()
    };
    assert_eq!(left("request_log", "1").await, 2);
    for (table, column) in
        [("rollup", "requests"), ("total", "requests"), ("ends", "requests"), ("door", "arrived")]
    {
        assert_eq!(left(&format!("{table}_minute"), column).await, 4, "{table}");
        assert_eq!(left(&format!("{table}_hour"), column).await, 6, "{table}");
        assert_eq!(left(&format!("{table}_day"), column).await, 7, "{table}");
    }
    let now = OffsetDateTime::now_utc();
    let window = Window::new(now - Duration::days(500), now + Duration::HOUR).unwrap();
    let audit = app::books::audit::audit(&books.db.pool, window).await.unwrap();
    assert!(audit.agrees, "{:?}", audit.differences);
    assert_eq!((audit.arrived, audit.totals, audit.rollups, audit.log), (4, 4, 4, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_the_log_is_dropped_with_its_partition() {
    let books = Books::new().await;
    sqlx::query(
        "create table request_log_20200101 partition of request_log for values from ('2020-01-01Z') to ('2020-01-02Z')",
    )
    .execute(&books.db.pool)
    .await
    .unwrap();
    tidy(&books).await;
    assert_eq!(books.count("select count(*) from pg_class where relname = 'request_log_20200101'").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_move_into_their_partition_during_an_audit_are_not_missed() {
    let books = Books::new().await;
    ship(&books, &[Duration::ZERO; 3]).await;
    tidy(&books).await;
    lose_today(&books).await;
    // The audit has its snapshot, and waits; now rows are moved.
    let mut holder = books.db.pool.begin().await.unwrap();
    sqlx::query("lock table door_minute in access exclusive mode").execute(&mut *holder).await.unwrap();
    let meanwhile = async {
        until_waited_for(&books, "door_minute", "false").await;
        let release = async {
            let moved = "(select count(*) from pg_inherits where inhparent = 'request_log'::regclass) = 10";
            until_waited_for(&books, "request_log", moved).await;
            holder.rollback().await.unwrap();
        };
        tokio::join!(tidy(&books), release);
    };
    let (audit, ()) = tokio::join!(books.audit(), meanwhile);
    assert!(audit.agrees && audit.log == 3, "{:?}", audit.differences);
    assert_eq!(books.count("select count(*) from request_log_default").await, 0);
}
