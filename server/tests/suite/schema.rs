//! The migrations themselves.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use sqlx::AssertSqlSafe;

use crate::support::database::TestDatabase;

#[tokio::test]
async fn migrating_a_current_database_again_changes_nothing() {
    let db = TestDatabase::new().await;
    let count = "select count(*) from _sqlx_migrations";
    let before: i64 = sqlx::query_scalar(count).fetch_one(&db.pool).await.unwrap();
    toll::store::MIGRATIONS.run(&db.pool).await.unwrap();
    let after: i64 = sqlx::query_scalar(count).fetch_one(&db.pool).await.unwrap();
    assert!(before > 0);
    assert_eq!(before, after);
}

#[tokio::test]
async fn what_operators_did_to_breakers_before_it_had_a_column_is_known_as_theirs() {
    let db = TestDatabase::empty().await;
    toll::store::MIGRATIONS.run_to(16, &db.pool).await.unwrap();
    sqlx::raw_sql(
        "insert into breaker_event (upstream_id, state, generation, reason) values
             (1, 'open', 2, 'opened by ada@example.com for 1 hour'), (1, 'closed', 3, 'closed by ada@example.com'),
             (1, 'open', 4, '5 failures in 10 s, the last: timeout'), (1, 'closed', 5, 'the probe succeeded')",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    toll::store::MIGRATIONS.run(&db.pool).await.unwrap();
    let by_hand: Vec<bool> = sqlx::query_scalar("select by_hand from breaker_event order by id")
        .fetch_all(&db.pool)
        .await
        .unwrap();
    assert_eq!(by_hand, [true, true, false, false]);
}

/// Rollups that are made later hold what was in the books before.
#[tokio::test]
async fn a_migration_that_changes_a_family_of_rollups_fills_it_from_the_others() {
    let db = TestDatabase::empty().await;
    toll::store::MIGRATIONS.run_to(11, &db.pool).await.unwrap();
    let (early, spent) = (Outcome::QuotaEarlyRetry.code(), Outcome::QuotaSpent.code());
    for grain in ["minute", "hour", "day"] {
        for (key, outcome, requests) in [(1, early, 5), (2, early, 6), (1, spent, 7)] {
            let row = format!(
                "insert into rollup_{grain} values (
                     1, timestamptz 'epoch', 1, 3, {key}, {}, {outcome}, false, 4, 0, {requests},
                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
                Stage::Quota.code()
            );
            sqlx::query(AssertSqlSafe(row)).execute(&db.pool).await.unwrap();
        }
    }
    toll::store::MIGRATIONS.run(&db.pool).await.unwrap();
    for grain in ["minute", "hour", "day"] {
        let rows = format!("select partner_id, at_quota, early, requests from ends_{grain}");
        let rows: Vec<(i64, i64, i64, i64)> =
            sqlx::query_as(AssertSqlSafe(rows)).fetch_all(&db.pool).await.unwrap();
        assert_eq!(rows, [(3, 18, 11, 18)], "{grain}");
    }
}
