//! `/portal/keys`: what a partner does with its keys by itself, with plain forms.

use app::domain::key_text::is_well_formed;
use app::people::InviteAs;
use app::session::store::hash;
use http::StatusCode;
use sqlx::PgPool;

use super::{Portal, partner, portal};

/// A portal, a partner, and the session of one of its people.
async fn acme() -> (Portal, i64, String) {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    (portal, acme, bob)
}

/// The key in a page that shows one.
fn key_in(body: &str) -> Option<&str> {
    body.match_indices("toll_")
        .map(|(at, _)| body.get(at..at + 43).unwrap_or_default())
        .find(|key| is_well_formed(key))
}

async fn ids(db: &PgPool) -> Vec<i64> {
    sqlx::query_scalar("select id from api_key order by id").fetch_all(db).await.unwrap()
}

#[tokio::test]
async fn the_answer_to_the_form_shows_the_key_once_and_is_not_stored() {
    let (portal, _, bob) = acme().await;
    let made = portal.post("/portal/keys/new", &bob, "name=Production&days=30").await;
    assert_eq!(made.status, StatusCode::OK);
    assert!(made.header("cache-control").contains("no-store"));
    let key = key_in(&made.body).unwrap().to_owned();
    let (stored, days): (Vec<u8>, i32) =
        sqlx::query_as("select hash, (expires_at::date - created_at::date) from api_key")
            .fetch_one(&portal.db)
            .await
            .unwrap();
    assert_eq!((stored, days), (hash(&key), 30));
    let list = portal.page("/portal/keys", &bob).await;
    assert!(list.body.contains("Production") && list.body.contains(&key[..10]));
    assert_eq!(key_in(&list.body), None);
}

#[tokio::test]
async fn a_name_that_is_none_is_said_beside_the_form() {
    let (portal, _, bob) = acme().await;
    let refused = portal.post("/portal/keys/new", &bob, "name=+&days=30").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("name has 1 to 100 visible characters in one line."), "{}", refused.body);
    assert!(refused.body.contains("action=\"/portal/keys/new\""));
    assert!(ids(&portal.db).await.is_empty());
}

#[tokio::test]
async fn a_form_that_says_no_number_where_one_belongs_makes_and_changes_nothing() {
    let (portal, _, bob) = acme().await;
    let refused = portal.post("/portal/keys/new", &bob, "name=Production&days=soon").await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(refused.body.contains("The form was incomplete."), "{}", refused.body);
    assert!(ids(&portal.db).await.is_empty());
    portal.post("/portal/keys/new", &bob, "name=Production&days=30").await;
    let made = ids(&portal.db).await;
    let rotate = format!("/portal/keys/{}/rotate", made[0]);
    assert_eq!(portal.post(&rotate, &bob, "overlap=later").await.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(ids(&portal.db).await, made);
}

#[tokio::test]
async fn the_plans_limit_is_said_before_the_form_and_not_after() {
    let (portal, _, bob) = acme().await;
    sqlx::query("update plan set max_keys = 1").execute(&portal.db).await.unwrap();
    assert!(portal.page("/portal/keys/new", &bob).await.body.contains("In use: 0 of 1 key, by plan"));
    portal.post("/portal/keys/new", &bob, "name=only&days=0").await;
    let full = portal.page("/portal/keys/new", &bob).await;
    assert!(full.body.contains("No more keys") && !full.body.contains("action=\"/portal/keys/new\""));
    let refused = portal.post("/portal/keys/new", &bob, "name=second&days=0").await;
    assert_eq!((refused.status, ids(&portal.db).await.len()), (StatusCode::UNPROCESSABLE_ENTITY, 1));
}

#[tokio::test]
async fn rotating_answers_with_the_successor_and_keeps_the_former_for_as_long_as_asked() {
    let (portal, _, bob) = acme().await;
    let first = portal.post("/portal/keys/new", &bob, "name=Production&days=0").await;
    let id = ids(&portal.db).await[0];
    assert!(portal.page(&format!("/portal/keys/{id}/rotate"), &bob).await.body.contains("15 minutes"));
    let made = portal.post(&format!("/portal/keys/{id}/rotate"), &bob, "overlap=3600").await;
    assert_eq!(made.status, StatusCode::OK);
    assert!(made.header("cache-control").contains("no-store"));
    assert_ne!(key_in(&made.body).unwrap(), key_in(&first.body).unwrap());
    let left: f64 = sqlx::query_scalar(
        "select extract(epoch from revoked_at - now())::float8 from api_key where id = $1",
    )
    .bind(id)
    .fetch_one(&portal.db)
    .await
    .unwrap();
    assert!((3_400.0..=3_600.0).contains(&left), "{left}");
    let again = portal.post(&format!("/portal/keys/{id}/rotate"), &bob, "overlap=0").await;
    assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_key_is_renamed_and_revoked_and_the_form_leads_back_to_the_list() {
    let (portal, _, bob) = acme().await;
    portal.post("/portal/keys/new", &bob, "name=Production&days=0").await;
    let id = ids(&portal.db).await[0];
    let renamed = portal.post(&format!("/portal/keys/{id}/rename"), &bob, "name=Staging").await;
    assert_eq!((renamed.status, renamed.header("location")), (StatusCode::FOUND, "/portal/keys"));
    assert!(portal.page("/portal/keys", &bob).await.body.contains("Staging"));
    let revoked = portal.post(&format!("/portal/keys/{id}/revoke"), &bob, "").await;
    assert_eq!((revoked.status, revoked.header("location")), (StatusCode::FOUND, "/portal/keys"));
    let over: bool =
        sqlx::query_scalar("select revoked_at <= now() from api_key").fetch_one(&portal.db).await.unwrap();
    assert!(over);
}

#[tokio::test]
async fn the_keys_of_another_partner_do_not_exist() {
    let (portal, _, bob) = acme().await;
    portal.post("/portal/keys/new", &bob, "name=Production&days=0").await;
    let id = ids(&portal.db).await[0];
    let globex = partner(&portal.db, "globex").await;
    let eve = portal.session("eve@globex.example", InviteAs::Partner(globex)).await;
    for act in ["rename", "rotate", "revoke"] {
        let path = format!("/portal/keys/{id}/{act}");
        assert_eq!(portal.page(&path, &eve).await.status, StatusCode::NOT_FOUND, "{act}");
        let posted = portal.post(&path, &eve, "name=mine&overlap=0").await;
        assert_eq!(posted.status, StatusCode::NOT_FOUND, "{act}");
    }
    let kept: (String, bool) =
        sqlx::query_as("select name, revoked_at is null from api_key").fetch_one(&portal.db).await.unwrap();
    assert_eq!(kept, ("Production".into(), true));
    assert!(!portal.page("/portal/keys", &eve).await.body.contains("Production"));
}

#[tokio::test]
async fn each_key_has_its_own_thirty_days_by_the_stage_where_requests_ended() {
    let (portal, acme, bob) = acme().await;
    portal.post("/portal/keys/new", &bob, "name=quiet&days=0").await;
    portal.post("/portal/keys/new", &bob, "name=busy&days=0").await;
    let busy = ids(&portal.db).await[1];
    // 40 days ago, 29 days ago and now; of the last, 3 reached the upstream and 1 ended at quota.
    for (table, age, stage, reached, requests) in [
        ("rollup_day", "40 days", 6, true, 100),
        ("rollup_day", "29 days", 6, true, 5),
        ("rollup_day", "0 days", 6, true, 3),
        ("rollup_day", "0 days", 3, false, 1),
        ("rollup_minute", "0 days", 6, true, 3),
    ] {
        let grain = &table["rollup_".len()..];
        let insert = format!(
            "insert into {table} select 1, date_trunc('{grain}', now() - interval '{age}', 'utc'), 1, {acme}, {busy},
                 {stage}, {outcome}, {reached}, 2, 0, {requests}, 0, 0, 0, 0,
                 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
            outcome = if reached { 102 } else { 40 }
        );
        sqlx::query(sqlx::AssertSqlSafe(insert)).execute(&portal.db).await.unwrap();
    }
    let list = portal.page("/portal/keys", &bob).await.body;
    assert!(list.contains("9 requests in 30 days, 8 reached the upstream, 1 ended at quota"), "{list}");
    assert!(list.contains("no requests in 30 days"));
    let row = list.split(&format!("id=\"key-{busy}\"")).nth(1).unwrap();
    assert!(row.split("</tr>").next().unwrap().contains("just now"));
}
