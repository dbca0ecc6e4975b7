//! People: invitations, sign-in, sessions.

use std::io::Read;
use std::process::Stdio;

use app::changes::By;
use app::people::{
    AcceptError, InviteAs, InviteError, SignInError, accept, find_invitation, first_ops_link, invite,
    remember, sign_in,
};
use app::session::{Role, store};
use futures::future::join_all;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;

use crate::support::database::TestDatabase;
use crate::support::toll::Home;

const PASSWORD: &str = "nine lives are enough";

async fn operator(db: &PgPool, email: &str) -> i64 {
    let token = invite(db, By("test"), email, InviteAs::Ops).await.unwrap();
    accept(db, &token, "", PASSWORD).await.unwrap()
}

pub async fn partner(db: &PgPool, slug: &str) -> i64 {
    sqlx::query_scalar(
        "with plan as (
             insert into plan (name, capacity, refill_per_second) values ('plan of ' || $1, 60, 1) returning id
         ), partner as (
             insert into partner (slug, name, plan_id) select $1, upper($1), id from plan returning id
         )
         insert into bucket (partner_id, tokens) select id, 60 from partner returning partner_id",
    )
    .bind(slug)
    .fetch_one(db)
    .await
    .unwrap()
}

fn token_of(link: &str) -> &str {
    link.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn who_reads_the_first_line_of_toll_serve_has_the_first_operators_link_with_it() {
    let db = TestDatabase::new().await;
    let home = Home::empty();
    let mut serve = home.command(&["serve"]);
    let mut toll = serve.env("DATABASE_URL", &db.url).stdout(Stdio::piped()).spawn().unwrap();
    // One read: what was written in one piece comes in one.
    let mut said = [0; 4096];
    let length = toll.stdout.take().unwrap().read(&mut said).unwrap();
    kill_process(Pid::from_child(&toll), Signal::TERM).unwrap();
    toll.wait().unwrap();
    let said = std::str::from_utf8(&said[..length]).unwrap();
    assert!(said.starts_with("Toll serves") && said.contains("/invite/"), "{said}");
}

#[tokio::test]
async fn the_first_link_makes_one_operator_and_a_newer_one_replaces_it() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let lost = first_ops_link(&db, "http://toll.example/").await.unwrap().unwrap();
    let link = first_ops_link(&db, "http://toll.example/").await.unwrap().unwrap();
    assert!(link.starts_with("http://toll.example/invite/"), "{link}");
    assert!(matches!(
        accept(&db, token_of(&lost), "eve@example.com", PASSWORD).await,
        Err(AcceptError::Over)
    ));

    let refused = accept(&db, token_of(&link), "no address", PASSWORD).await;
    assert!(matches!(refused, Err(AcceptError::NoAddress)));
    let refused = accept(&db, token_of(&link), "ada@example.com", "too short").await;
    assert!(matches!(refused, Err(AcceptError::Password(_))));

    let ada = accept(&db, token_of(&link), "Ada@Example.com", PASSWORD).await.unwrap();
    assert_eq!(sign_in(&db, "ada@example.com", PASSWORD, "::1", None).await.unwrap(), ada);
    assert_eq!(first_ops_link(&db, "http://toll.example").await.unwrap(), None);
}

#[tokio::test]
async fn a_first_link_is_worth_nothing_once_somebody_has_an_account() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let link = first_ops_link(&db, "http://toll.example").await.unwrap().unwrap();
    operator(&db, "ada@example.com").await;
    let late = accept(&db, token_of(&link), "eve@example.com", PASSWORD).await;
    assert!(matches!(late, Err(AcceptError::Over)), "{late:?}");
}

#[tokio::test]
async fn of_ten_who_use_one_link_at_once_one_gets_the_account() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let token = invite(&db, By("test"), "bob@example.com", InviteAs::Ops).await.unwrap();
    let tries = join_all((0..10).map(|_| accept(&db, &token, "", PASSWORD))).await;
    assert_eq!(tries.iter().filter(|made| made.is_ok()).count(), 1);
    assert!(tries.iter().filter_map(|made| made.as_ref().err()).all(|e| matches!(e, AcceptError::Over)));
    let people: i64 = sqlx::query_scalar("select count(*) from person").fetch_one(&db).await.unwrap();
    assert_eq!(people, 1);
}

#[tokio::test]
async fn an_invitation_ends_after_72_hours_and_an_address_has_one_account() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let acme = partner(&db, "acme").await;
    let token = invite(&db, By("test"), "bob@acme.example", InviteAs::Partner(acme)).await.unwrap();
    let invitation = find_invitation(&db, &token).await.unwrap().unwrap();
    assert_eq!(invitation.email.as_deref(), Some("bob@acme.example"));
    assert_eq!(invitation.partner.as_deref(), Some("ACME"));

    let second = invite(&db, By("test"), "BOB@acme.example", InviteAs::Ops).await.unwrap();
    accept(&db, &second, "", PASSWORD).await.unwrap();
    assert!(matches!(accept(&db, &token, "", PASSWORD).await, Err(AcceptError::Exists)));
    let known = invite(&db, By("test"), "bob@acme.example", InviteAs::Ops).await;
    assert!(matches!(known, Err(InviteError::Exists { .. })));

    let late = invite(&db, By("test"), "carol@acme.example", InviteAs::Partner(acme)).await.unwrap();
    sqlx::query("update invitation set expires_at = expires_at - interval '72 hours'")
        .execute(&db)
        .await
        .unwrap();
    assert_eq!(find_invitation(&db, &late).await.unwrap(), None);
    assert!(matches!(accept(&db, &late, "", PASSWORD).await, Err(AcceptError::Over)));
}

#[tokio::test]
async fn a_second_invitation_takes_the_place_of_the_first_of_the_same_team() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let team = InviteAs::Partner(partner(&db, "acme").await);
    let others = InviteAs::Partner(partner(&db, "globex").await);
    let made = async |team| invite(&db, By("test"), "bob@acme.example", team).await.unwrap();
    let (first, other) = (made(team).await, made(others).await);
    let links: Vec<String> = join_all((0..8).map(|_| made(team))).await;
    assert_eq!(find_invitation(&db, &first).await.unwrap(), None);
    assert!(find_invitation(&db, &other).await.unwrap().is_some(), "another team's is its own business");
    let good = join_all(links.iter().map(async |link| find_invitation(&db, link).await.unwrap())).await;
    assert_eq!(good.iter().flatten().count(), 1);
}

#[tokio::test]
async fn who_has_guessed_too_often_is_told_when_the_oldest_guess_is_forgotten() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    operator(&db, "ada@example.com").await;
    let guess = async || sign_in(&db, "ada@example.com", "a guess", "10.0.0.1", None).await;
    for _ in 0..10 {
        assert!(matches!(guess().await, Err(SignInError::Wrong)));
    }
    assert!(matches!(guess().await, Err(SignInError::TooMany { minutes: 15 })));
    let earlier = "update sign_in_failure set at = at - interval '12 minutes'";
    sqlx::query(earlier).execute(&db).await.unwrap();
    assert!(matches!(guess().await, Err(SignInError::TooMany { minutes: 3 })));
    sqlx::query(earlier).execute(&db).await.unwrap();
    assert!(matches!(guess().await, Err(SignInError::Wrong)));
}

#[tokio::test]
async fn guessing_is_stopped_after_ten_tries_however_many_come_at_once_and_the_owner_gets_in() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let ada = operator(&db, "ada@example.com").await;
    let bob = operator(&db, "bob@example.com").await;
    let guess = |n: usize| {
        let db = db.clone();
        async move { sign_in(&db, "ada@example.com", &format!("guess {n}"), "10.0.0.1", None).await }
    };
    let guesses = join_all((0..30).map(guess)).await;
    let tried = guesses.iter().filter(|guess| matches!(guess, Err(SignInError::Wrong))).count();
    let waits = guesses.iter().filter(|guess| matches!(guess, Err(SignInError::TooMany { .. }))).count();
    assert_eq!((tried, waits), (10, 20));

    let right = sign_in(&db, "ada@example.com", PASSWORD, "10.0.0.1", None).await;
    assert!(matches!(right, Err(SignInError::TooMany { .. })), "{right:?}");
    assert_eq!(sign_in(&db, "ada@example.com", PASSWORD, "10.0.0.99", None).await.unwrap(), ada);
    assert_eq!(sign_in(&db, "bob@example.com", PASSWORD, "10.0.0.1", None).await.unwrap(), bob);
    let still = sign_in(&db, "ada@example.com", PASSWORD, "10.0.0.1", None).await;
    assert!(matches!(still, Err(SignInError::TooMany { .. })), "the owner's success is no pardon: {still:?}");

    sqlx::query("update sign_in_failure set at = at - interval '16 minutes'").execute(&db).await.unwrap();
    assert!(sign_in(&db, "ada@example.com", PASSWORD, "10.0.0.1", None).await.is_ok());
}

#[tokio::test]
async fn many_addresses_that_guess_together_are_stopped_and_a_known_browser_is_not() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let ada = operator(&db, "ada@example.com").await;
    let bob = operator(&db, "bob@example.com").await;
    let (adas, bobs) = (remember(&db, ada, None).await.unwrap(), remember(&db, bob, None).await.unwrap());
    sqlx::query(
        "insert into sign_in_failure (email, address)
         select 'ada@example.com', '10.0.' || n || '.1' from generate_series(1, 100) n",
    )
    .execute(&db)
    .await
    .unwrap();
    let try_with = |password: &'static str, device: Option<String>| {
        let db = db.clone();
        async move { sign_in(&db, "ada@example.com", password, "10.0.1.1", device.as_deref()).await }
    };
    for device in [None, Some(bobs), Some("0".repeat(64))] {
        let strange = try_with(PASSWORD, device).await;
        assert!(matches!(strange, Err(SignInError::TooMany { .. })), "{strange:?}");
    }
    assert_eq!(try_with(PASSWORD, Some(adas.clone())).await.unwrap(), ada);
    // A browser that is known has no more tries than anybody.
    for _ in 0..10 {
        assert!(matches!(try_with("wrong", Some(adas.clone())).await, Err(SignInError::Wrong)));
    }
    let over = try_with(PASSWORD, Some(adas.clone())).await;
    assert!(matches!(over, Err(SignInError::TooMany { .. })), "{over:?}");
    assert_eq!(remember(&db, ada, Some(&adas)).await.unwrap(), adas, "a browser is counted once");
}

#[tokio::test]
async fn one_address_cannot_try_many_accounts_for_long() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    sqlx::query(
        "insert into sign_in_failure (email, address)
         select n || '@example.com', '10.0.0.1' from generate_series(1, 100) n",
    )
    .execute(&db)
    .await
    .unwrap();
    let more = sign_in(&db, "somebody@example.com", "whatever", "10.0.0.1", None).await;
    assert!(matches!(more, Err(SignInError::TooMany { .. })), "{more:?}");
    let elsewhere = sign_in(&db, "somebody@example.com", "whatever", "10.0.0.2", None).await;
    assert!(matches!(elsewhere, Err(SignInError::Wrong)), "{elsewhere:?}");
}

#[tokio::test]
async fn a_session_ends_when_idle_when_old_and_everywhere_when_asked() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let ada = operator(&db, "ada@example.com").await;
    let idle = store::create(&db, ada).await.unwrap();
    sqlx::query("update session set seen_at = now() - interval '12 hours 1 second'")
        .execute(&db)
        .await
        .unwrap();
    let old = store::create(&db, ada).await.unwrap();
    sqlx::query("update session set expires_at = now() where token_hash = $1")
        .bind(store::hash(&old))
        .execute(&db)
        .await
        .unwrap();
    assert_eq!(store::find(&db, &idle).await.unwrap(), None);
    assert_eq!(store::find(&db, &old).await.unwrap(), None);

    let (here, there) = (store::create(&db, ada).await.unwrap(), store::create(&db, ada).await.unwrap());
    let bob = operator(&db, "bob@example.com").await;
    let bobs = store::create(&db, bob).await.unwrap();
    let left: i64 = sqlx::query_scalar("select count(*) from session").fetch_one(&db).await.unwrap();
    assert_eq!(left, 3, "sessions that are over are cleared away");
    assert_eq!(store::find(&db, &here).await.unwrap().map(|viewer| viewer.role), Some(Role::Ops));

    store::end_everywhere(&db, &here).await.unwrap();
    assert_eq!(store::find(&db, &there).await.unwrap(), None);
    assert!(store::find(&db, &bobs).await.unwrap().is_some());
}

#[tokio::test]
async fn looking_at_a_page_keeps_a_session_alive() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let ada = operator(&db, "ada@example.com").await;
    let token = store::create(&db, ada).await.unwrap();
    sqlx::query("update session set seen_at = now() - interval '11 hours'").execute(&db).await.unwrap();
    assert!(store::find(&db, &token).await.unwrap().is_some());
    let fresh: bool = sqlx::query_scalar("select seen_at > now() - interval '1 minute' from session")
        .fetch_one(&db)
        .await
        .unwrap();
    assert!(fresh);
}

#[tokio::test]
async fn a_partner_that_is_gone_takes_its_peoples_access_along() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let acme = partner(&db, "acme").await;
    let token = invite(&db, By("test"), "bob@acme.example", InviteAs::Partner(acme)).await.unwrap();
    let bob = accept(&db, &token, "", PASSWORD).await.unwrap();
    let session = store::create(&db, bob).await.unwrap();
    let role = store::find(&db, &session).await.unwrap().map(|viewer| viewer.role);
    assert_eq!(
        role,
        Some(Role::Partner { id: acme, slug: "acme".into(), name: "ACME".into(), is_suspended: false })
    );
    sqlx::query("update partner set retired_at = now()").execute(&db).await.unwrap();
    assert_eq!(store::find(&db, &session).await.unwrap(), None);
}
