//! How nodes hear of a change.

use app::announce::{CHANNEL, Change, announce};
use sqlx::PgPool;
use sqlx::postgres::PgListener;

use crate::support::database::TestDatabase;
use crate::support::toll::PATIENCE;

async fn version(db: &PgPool) -> i64 {
    sqlx::query_scalar("select version from catalog_version").fetch_one(db).await.unwrap()
}

async fn listen(db: &PgPool) -> PgListener {
    let mut listener = PgListener::connect_with(db).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    listener
}

async fn next(listener: &mut PgListener) -> Change {
    let notice = tokio::time::timeout(PATIENCE, listener.recv()).await.unwrap().unwrap();
    notice.payload().parse().unwrap()
}

#[tokio::test]
async fn a_change_is_heard_when_it_commits_and_never_if_it_does_not() {
    let db = TestDatabase::new().await;
    let mut listener = listen(&db.pool).await;
    let before = version(&db.pool).await;

    let mut given_up = db.pool.begin().await.unwrap();
    announce(&mut given_up, Change::Key([1; 32])).await.unwrap();
    given_up.rollback().await.unwrap();
    let mut kept = db.pool.begin().await.unwrap();
    announce(&mut kept, Change::Key([2; 32])).await.unwrap();
    announce(&mut kept, Change::Catalog).await.unwrap();
    kept.commit().await.unwrap();

    assert_eq!(next(&mut listener).await, Change::Key([2; 32]));
    assert_eq!(next(&mut listener).await, Change::Catalog);
    assert_eq!(version(&db.pool).await, before + 2);
}

#[tokio::test]
async fn a_breaker_is_heard_without_a_new_version_of_the_catalog() {
    let db = TestDatabase::new().await;
    let mut listener = listen(&db.pool).await;
    let before = version(&db.pool).await;
    let mut conn = db.pool.acquire().await.unwrap();
    announce(&mut conn, Change::Breaker(7)).await.unwrap();
    assert_eq!(next(&mut listener).await, Change::Breaker(7));
    assert_eq!(version(&db.pool).await, before);
}
