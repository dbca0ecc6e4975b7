//! The migrations themselves.

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
