//! What applying a file does to the database.

use app::announce::{CHANNEL, Change};
use app::changes::By;
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use toll::manifest::apply::Options;

use crate::support::catalog::{SAMPLE, declare, declare_with};
use crate::support::database::TestDatabase;
use crate::support::toll::PATIENCE;

const BY: By<'_> = By("toll apply");
const DRY: Options<'_> = Options { dry_run: true, prune: false, is_on_screen: false, by: BY };
const PRUNE: Options<'_> = Options { dry_run: false, prune: true, is_on_screen: false, by: BY };

async fn one<T>(db: &PgPool, sql: &'static str) -> T
where
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
{
    sqlx::query_scalar(sql).fetch_one(db).await.unwrap()
}

async fn run(db: &PgPool, sql: &'static str) {
    sqlx::query(sql).execute(db).await.unwrap();
}

#[tokio::test]
async fn a_file_applied_twice_changes_nothing_the_second_time() {
    let db = TestDatabase::new().await;
    let first = declare(&db.pool, SAMPLE).await;
    assert_eq!(first.summary(), "10 created, 0 changed, 0 retired");
    let version: i64 = one(&db.pool, "select version from catalog_version").await;
    let second = declare(&db.pool, SAMPLE).await;
    assert!(second.is_empty() && second.unlisted.is_empty(), "{second}");
    assert_eq!(one::<i64>(&db.pool, "select version from catalog_version").await, version);
}

#[tokio::test]
async fn every_default_is_as_promised() {
    let db = TestDatabase::new().await;
    let text = "[[upstream]]\nname = \"u\"\nurls = [\"http://h\"]\n[[plan]]\nname = \"p\"\ncapacity = 5\n\
                refill_per_second = 0.5\n[[route]]\nname = \"r\"\npath = \"/r\"\nupstream = \"u\"\n\
                [[partner]]\nslug = \"acme\"\nplan = \"p\"\n";
    declare(&db.pool, text).await;
    let row: String = one(
        &db.pool,
        "select concat_ws(' ', connect_timeout_ms, timeout_ms, coalesce(health, 'no health'), headers, breaker_failures,
                          breaker_window_ms, breaker_open_ms, max_in_flight) from upstream",
    )
    .await;
    assert_eq!(row, "1000 10000 no health {} 5 10000 5000 1000");
    let row: String = one(
        &db.pool,
        "select concat_ws(' ', strip, coalesce(methods::text, 'all'), access, body_limit, identity, cache, cache_ttl_ms,
                          cors, is_off, generation) from route",
    )
    .await;
    assert_eq!(row, "t all key 1048576 f f 0 {} f 1");
    let row: String =
        one(&db.pool, "select concat_ws(' ', max_keys, coalesce(routes::text, 'all'), sign_up) from plan")
            .await;
    assert_eq!(row, "10 all f");
    assert_eq!(one::<String>(&db.pool, "select name || ' ' || suspended from partner").await, "acme false");
}

#[tokio::test]
async fn a_new_partner_has_a_full_bucket_and_a_new_upstream_a_closed_breaker() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let full = "select string_agg(slug || ' ' || tokens, ', ' order by slug) from partner join bucket on partner_id = id";
    assert_eq!(one::<String>(&db.pool, full).await, "acme 60, globex 4000");
    let closed = "select count(*) from upstream join breaker on upstream_id = id where state = 'closed'";
    assert_eq!(one::<i64>(&db.pool, closed).await, 2);
}

#[tokio::test]
async fn a_dry_run_tells_what_was_edited_on_screen_and_leaves_it() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    run(&db.pool, "update route set is_off = true where name = 'products'").await;
    run(&db.pool, "update partner set suspended = true where slug = 'acme'").await;
    run(&db.pool, "update upstream set headers = '{\"X-Service-Token\": \"s3cret\"}' where name = 'orders'")
        .await;
    let told = declare_with(&db.pool, SAMPLE, DRY).await.to_string();
    assert_eq!(
        told,
        "~ upstream orders\n    headers = { X-Service-Token = \"…\" } → { X-Service-Token = \"…${ORDERS_TOKEN}\" }\n\
         ~ route products\n    off = true → false\n\
         ~ partner acme\n    suspended = true → false\n"
    );
    assert!(one::<bool>(&db.pool, "select is_off from route where name = 'products'").await);
    declare(&db.pool, SAMPLE).await;
    assert!(!one::<bool>(&db.pool, "select is_off from route where name = 'products'").await);
    assert!(declare(&db.pool, SAMPLE).await.is_empty());
}

#[tokio::test]
async fn a_difference_in_json_names_action_thing_and_fields() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let text = SAMPLE.replace("capacity = 60", "capacity = 90").replace("health = \"/healthz\"\n", "");
    let told = serde_json::to_value(declare(&db.pool, &text).await).unwrap();
    let expected = serde_json::json!({
        "changes": [
            { "action": "change", "kind": "upstream", "name": "orders",
              "fields": [{ "field": "health", "from": "/healthz", "to": null }] },
            { "action": "change", "kind": "plan", "name": "free",
              "fields": [{ "field": "capacity", "from": 60, "to": 90 }] },
        ],
        "unlisted": [],
    });
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_route_forgets_what_it_stored_when_it_or_its_upstream_changes() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let generations = "select string_agg(name || ' ' || generation, ', ' order by name) from route where retired_at is null";
    declare(&db.pool, &SAMPLE.replace("cache_ttl = \"30s\"", "cache_ttl = \"31s\"")).await;
    assert_eq!(one::<String>(&db.pool, generations).await, "orders 1, products 2, status 1, uploads 1");
    // Route and url at once: one generation, not two.
    let text = SAMPLE.replace("127.0.0.1:9002", "127.0.0.1:9003");
    declare(&db.pool, &text).await;
    assert_eq!(one::<String>(&db.pool, generations).await, "orders 1, products 3, status 2, uploads 1");
    declare(&db.pool, &text.replace("timeout = \"3s\"", "timeout = \"4s\"")).await;
    assert_eq!(one::<String>(&db.pool, generations).await, "orders 1, products 3, status 2, uploads 1");
}

#[tokio::test]
async fn what_a_file_lacks_is_kept_and_told_and_retired_only_with_prune() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let (without, _) = SAMPLE.split_once("[[partner]]\nslug = \"globex\"").unwrap();
    let kept = declare(&db.pool, without).await;
    assert!(kept.is_empty());
    assert_eq!(kept.unlisted.iter().map(|thing| thing.name.as_str()).collect::<Vec<_>>(), ["globex"]);
    let pruned = declare_with(&db.pool, without, PRUNE).await;
    assert_eq!(pruned.to_string(), "- partner globex\n");
    assert_eq!(one::<i64>(&db.pool, "select count(*) from partner where retired_at is not null").await, 1);
    // The same name again is somebody else.
    declare(&db.pool, SAMPLE).await;
    let both = "select count(distinct id) from partner where slug = 'globex'";
    assert_eq!(one::<i64>(&db.pool, both).await, 2);
    assert_eq!(one::<i64>(&db.pool, "select count(*) from bucket").await, 3);
}

#[tokio::test]
async fn everything_can_be_pruned_at_once() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let pruned = declare_with(&db.pool, "", PRUNE).await;
    assert_eq!(pruned.summary(), "0 created, 0 changed, 10 retired");
    assert!(declare_with(&db.pool, "", PRUNE).await.is_empty());
    assert_eq!(declare(&db.pool, SAMPLE).await.summary(), "10 created, 0 changed, 0 retired");
}

#[tokio::test]
async fn a_change_is_announced_once_and_no_change_is_not() {
    let db = TestDatabase::new().await;
    let mut listener = PgListener::connect_with(&db.pool).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    declare_with(&db.pool, SAMPLE, DRY).await;
    declare(&db.pool, SAMPLE).await;
    declare(&db.pool, SAMPLE).await;
    run(&db.pool, "select pg_notify('toll', 'breaker 1')").await;
    let mut heard = Vec::new();
    for _ in 0..2 {
        let notice = tokio::time::timeout(PATIENCE, listener.recv()).await.unwrap().unwrap();
        heard.push(notice.payload().parse::<Change>().unwrap());
    }
    assert_eq!(heard, [Change::Catalog, Change::Breaker(1)]);
}

#[tokio::test]
async fn many_who_apply_one_file_at_once_make_everything_once() {
    let db = TestDatabase::new().await;
    let all = (0..8).map(|_| {
        let pool = db.pool.clone();
        tokio::spawn(async move { declare(&pool, SAMPLE).await.changes.len() })
    });
    let mut made = Vec::new();
    for one in all.collect::<Vec<_>>() {
        made.push(one.await.unwrap());
    }
    made.sort_unstable();
    assert_eq!(made, [0, 0, 0, 0, 0, 0, 0, 10]);
}
