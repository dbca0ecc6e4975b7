//! What people do without an operator: sign up, invite colleagues, set a new password by a link.

use app::changes::By;
use app::people::{InviteAs, IssueError, ResetError, issue, reset};
use http::StatusCode;
use http::header::SET_COOKIE;
use sqlx::PgPool;

use super::{PASSWORD, Portal, partner, portal};
use crate::support::catalog::declare;

const PLANS: &str = r#"
[[plan]]
name = "free"
capacity = 60
refill_per_second = 1.0
sign_up = true

[[plan]]
name = "business"
capacity = 4000
refill_per_second = 100
"#;

async fn open_portal() -> Portal {
    let portal = portal("http://toll.example").await;
    declare(&portal.db, PLANS).await;
    portal
}

fn form(plan: &str, name: &str, email: &str) -> String {
    format!("plan={plan}&name={name}&email={email}&password={}", PASSWORD.replace(' ', "+"))
}

async fn sign_in(portal: &Portal, email: &str, password: &str) -> StatusCode {
    let form = format!("email={email}&password={}&next=", password.replace(' ', "+"));
    portal.call("sign_in", "", &form).await.status
}

async fn count(db: &PgPool, table: &str) -> i64 {
    sqlx::query_scalar(sqlx::AssertSqlSafe(format!("select count(*) from {table}")))
        .fetch_one(db)
        .await
        .unwrap()
}

#[tokio::test]
async fn signing_up_makes_a_partner_with_a_full_bucket_that_every_node_hears_of() {
    let portal = open_portal().await;
    assert!(portal.page("/", "").await.body.contains("href=\"/sign-up\""));
    let offered = portal.page("/sign-up", "").await.body;
    assert!(offered.contains("60 at once") && !offered.contains("business"));
    let version: i64 =
        sqlx::query_scalar("select version from catalog_version").fetch_one(&portal.db).await.unwrap();

    let answer = portal.post("/sign-up", "", &form("free", "Acme+GmbH", "Bob%40acme.example")).await;
    assert_eq!((answer.status, answer.header("location")), (StatusCode::FOUND, "/?welcome=1"));
    let made: (String, String, f64) = sqlx::query_as(
        "select slug, plan.name, tokens from partner join plan on plan.id = plan_id join bucket on partner_id = partner.id",
    )
    .fetch_one(&portal.db)
    .await
    .unwrap();
    assert_eq!(made, ("acme-gmbh".into(), "free".into(), 60.0));
    let now: i64 =
        sqlx::query_scalar("select version from catalog_version").fetch_one(&portal.db).await.unwrap();
    assert!(now > version);
    assert_eq!(sign_in(&portal, "bob%40acme.example", PASSWORD).await, StatusCode::OK);

    // A name that is taken makes another slug, and says nothing.
    let second = portal.post("/sign-up", "", &form("free", "ACME+GmbH", "eve%40acme.example")).await;
    assert_eq!(second.header("location"), "/?welcome=1");
    assert_eq!(count(&portal.db, "partner where slug like 'acme-gmbh-%'").await, 1);
}

#[tokio::test]
async fn an_address_that_has_an_account_gets_the_same_answer_and_nothing_is_made() {
    let portal = open_portal().await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let known = portal
        .post("/sign-up", "", &form("free", "Evil", "ada%40example.com").replace("nine", "other"))
        .await;
    let fresh = portal.post("/sign-up", "", &form("free", "Good", "new%40example.com")).await;
    // But for the nonces.
    let told =
        |answer: &super::Answer| (answer.status, answer.header("location").to_owned(), answer.body.len());
    assert_eq!(told(&known), told(&fresh));
    assert!(!known.headers.contains_key(SET_COOKIE) && !fresh.headers.contains_key(SET_COOKIE));
    assert_eq!((count(&portal.db, "partner").await, count(&portal.db, "bucket").await), (1, 1));
    assert_eq!(sign_in(&portal, "ada%40example.com", PASSWORD).await, StatusCode::OK);
}

#[tokio::test]
async fn what_cannot_be_taken_is_said_beside_what_was_typed() {
    let portal = open_portal().await;
    let short =
        portal.post("/sign-up", "", "plan=free&name=Acme&email=bob%40acme.example&password=too+short").await;
    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        short.body.contains("value=\"Acme\"")
            && short.body.contains("A password has at least 10 characters.")
    );
    assert!(!short.body.contains("too short"));
    let closed = portal.post("/sign-up", "", &form("business", "Acme", "bob%40acme.example")).await;
    assert_eq!(closed.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!((count(&portal.db, "partner").await, count(&portal.db, "person").await), (0, 0));
}

#[tokio::test]
async fn one_address_cannot_sign_up_without_end() {
    let portal = open_portal().await;
    sqlx::query("insert into sign_up_attempt (address) select 'unknown' from generate_series(1, 20)")
        .execute(&portal.db)
        .await
        .unwrap();
    let one_more = portal.post("/sign-up", "", &form("free", "Acme", "bob%40acme.example")).await;
    assert_eq!(one_more.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(count(&portal.db, "partner").await, 0);
}

#[tokio::test]
async fn where_no_plan_is_open_there_is_no_signing_up() {
    let portal = portal("http://toll.example").await;
    partner(&portal.db, "acme").await;
    assert_eq!(portal.page("/sign-up", "").await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        portal.post("/sign-up", "", &form("free", "Acme", "bob%40acme.example")).await.status,
        StatusCode::NOT_FOUND
    );
    assert!(!portal.page("/", "").await.body.contains("/sign-up"));
}

#[tokio::test]
async fn a_colleague_gets_a_link_that_is_shown_once_and_sees_the_same_partner() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let made = portal.post("/portal/people", &bob, "act=invite&email=carol%40acme.example").await;
    assert_eq!(made.status, StatusCode::OK);
    let at = made.body.find("http://toll.example/invite/").unwrap();
    let token = &made.body[at + 27..at + 27 + 64];
    let list = portal.page("/portal/people", &bob).await.body;
    assert!(list.contains("carol@acme.example") && list.contains("invited") && !list.contains(token));

    let form = format!("token={token}&email=&password={}", PASSWORD.replace(' ', "+"));
    let accepted = portal.call("accept_invitation", "", &form).await;
    assert_eq!(accepted.header("location"), "/portal");
    assert_eq!(count(&portal.db, &format!("person where partner_id = {acme}")).await, 2);
}

#[tokio::test]
async fn inviting_somebody_who_has_an_account_elsewhere_says_nothing_about_it() {
    let portal = portal("http://toll.example").await;
    let (acme, globex) = (partner(&portal.db, "acme").await, partner(&portal.db, "globex").await);
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    portal.session("eve@globex.example", InviteAs::Partner(globex)).await;
    let known = portal.post("/portal/people", &bob, "act=invite&email=eve%40globex.example").await;
    let fresh = portal.post("/portal/people", &bob, "act=invite&email=new%40globex.example").await;
    assert_eq!((known.status, fresh.status), (StatusCode::OK, StatusCode::OK));
    assert!(
        known.body.contains("A link for eve@globex.example")
            && fresh.body.contains("A link for new@globex.example")
    );
}

#[tokio::test]
async fn a_reset_link_sets_the_password_once_and_signs_out_everywhere() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let old = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let token = issue(&portal.db, By("ada@example.com"), "Bob@acme.example").await.unwrap();
    let path = format!("/reset/{token}");
    assert!(portal.page(&path, "").await.body.contains("bob@acme.example"));
    let short = portal.post(&path, "", "password=short").await;
    assert_eq!(short.status, StatusCode::UNPROCESSABLE_ENTITY);

    let set = portal.post(&path, "", "password=a+brand+new+one").await;
    assert_eq!((set.status, set.header("location")), (StatusCode::FOUND, "/portal"));
    assert!(set.header(SET_COOKIE.as_str()).starts_with("toll_session="));
    assert_eq!(portal.page("/portal", &old).await.status, StatusCode::FOUND);
    assert_eq!(sign_in(&portal, "bob%40acme.example", PASSWORD).await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(sign_in(&portal, "bob%40acme.example", "a brand new one").await, StatusCode::OK);
    assert_eq!(portal.page(&path, "").await.status, StatusCode::GONE);
    assert_eq!(portal.post(&path, "", "password=yet+another+one").await.status, StatusCode::GONE);
}

#[tokio::test]
async fn a_reset_link_ends_after_a_day_and_with_the_next_one() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let former = issue(&portal.db, By("ada@example.com"), "ada@example.com").await.unwrap();
    let latest = issue(&portal.db, By("ada@example.com"), "ada@example.com").await.unwrap();
    assert!(matches!(reset(&portal.db, &former, PASSWORD).await, Err(ResetError::Over)));
    sqlx::query("update password_reset set expires_at = expires_at - interval '24 hours'")
        .execute(&portal.db)
        .await
        .unwrap();
    assert!(matches!(reset(&portal.db, &latest, PASSWORD).await, Err(ResetError::Over)));
    assert!(matches!(
        issue(&portal.db, By("ada@example.com"), "nobody@example.com").await,
        Err(IssueError::Unknown(_))
    ));
}

#[tokio::test]
async fn getting_back_in_forgets_the_failures_that_kept_one_out() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    for _ in 0..10 {
        sign_in(&portal, "ada%40example.com", "a wrong password").await;
    }
    assert_eq!(sign_in(&portal, "ada%40example.com", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    let token = issue(&portal.db, By("ada@example.com"), "ada@example.com").await.unwrap();
    reset(&portal.db, &token, "a brand new one").await.unwrap();
    assert_eq!(sign_in(&portal, "ada%40example.com", "a brand new one").await, StatusCode::OK);
}
