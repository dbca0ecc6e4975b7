//! Who changed what: each change leaves one row, in the transaction that makes it, and no secret.

use app::changes::{By, Change, What, list};
use app::keys::{self, NewKey};
use app::people::{InviteAs, accept, invite};
use serde_json::json;
use sqlx::PgPool;
use time::Duration;
use toll::manifest::apply::{Options, apply};
use toll::manifest::file;

use crate::people::partner;
use crate::support::catalog::{declare_with, plain};
use crate::support::database::TestDatabase;

const BY: By<'_> = By("toll apply");

fn with_a_secret() -> String {
    let secret = "[[upstream]]\nheaders = { \"X-Service-Token\" = \"v1 ${ORDERS_TOKEN} sesame\" }";
    plain().replace("[[upstream]]", secret)
}

async fn told(db: &PgPool, what: Option<What>) -> Vec<Change> {
    list(db, what, None, 100).await.unwrap()
}

#[tokio::test]
async fn what_an_applied_file_changes_is_in_the_audit_with_its_fields_and_no_header() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let options = Options { by: BY, ..Options::default() };
    declare_with(&db, &with_a_secret(), options).await;
    let changes = told(&db, None).await;
    let things: Vec<_> = changes.iter().map(|change| (change.what.as_str(), change.name.as_str())).collect();
    assert_eq!(
        things,
        [("partner", "acme"), ("route", "orders"), ("plan", "free"), ("upstream", "orders")],
        "the newest first"
    );
    assert!(changes.iter().all(|change| change.who == "toll apply" && change.before.is_none()));
    let text = format!("{changes:?}");
    assert!(!text.contains("sesame") && text.contains("${ORDERS_TOKEN}"), "{text}");

    declare_with(&db, &with_a_secret().replace("capacity = 60", "capacity = 9"), options).await;
    let [plan, ..] = &told(&db, Some(What::Plan)).await[..] else { panic!("no plan changed") };
    assert_eq!(plan.before, Some(json!({ "capacity": 60 })));
    assert_eq!(plan.after, Some(json!({ "capacity": 9 })));
}

#[tokio::test]
async fn what_is_retired_leaves_what_it_was() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let file = with_a_secret();
    declare_with(&db, &file, Options { by: BY, ..Options::default() }).await;
    let (without, _) = file.split_once("[[partner]]").unwrap();
    declare_with(&db, without, Options { prune: true, by: BY, ..Options::default() }).await;
    let [gone, ..] = &told(&db, Some(What::Partner)).await[..] else { panic!("no partner changed") };
    assert_eq!(gone.before, Some(json!({ "name": "acme", "plan": "free" })));
    assert_eq!(gone.after, None);
}

#[tokio::test]
async fn what_is_refused_or_only_tried_leaves_nothing() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    declare_with(&db, &with_a_secret(), Options { dry_run: true, by: BY, ..Options::default() }).await;
    let wrong = file::read("[[partner]]\nslug = \"acme\"\nplan = \"none\"\n");
    assert!(apply(&db, &wrong, Options::default()).await.is_err());
    assert_eq!(told(&db, None).await, []);
}

#[tokio::test]
async fn a_keys_life_is_told_by_name_and_start_and_never_by_its_text() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let acme = partner(&db, "acme").await;
    let by = By("bob@acme.example");
    let made = keys::create(&db, by, acme, NewKey { name: "ci", ..NewKey::default() }).await.unwrap();
    keys::rename(&db, by, Some(acme), made.key.id, "build").await.unwrap();
    let second = keys::rotate(&db, by, Some(acme), made.key.id, Duration::HOUR).await.unwrap();
    keys::revoke(&db, by, Some(acme), made.key.id).await.unwrap();
    // Ended already: nothing changes, nothing is told.
    keys::revoke(&db, by, Some(acme), made.key.id).await.unwrap();

    let changes = told(&db, Some(What::Key)).await;
    let sides: Vec<_> =
        changes.iter().rev().map(|change| (change.before.clone(), change.after.clone())).collect();
    let fresh = json!({ "expires": null, "routes": null });
    assert_eq!(
        sides,
        [
            (None, Some(fresh.clone())),
            (Some(json!({ "name": "ci" })), Some(json!({ "name": "build" }))),
            (Some(json!({ "state": "active" })), Some(json!({ "state": "rotating" }))),
            (None, Some(fresh)),
            (Some(json!({ "state": "rotating" })), Some(json!({ "state": "revoked" }))),
        ]
    );
    assert_eq!(changes.last().unwrap().name, format!("ci of acme ({}…)", made.key.start));
    let text = format!("{changes:?}");
    assert!(!text.contains(&made.text) && !text.contains(&second.text));
}

#[tokio::test]
async fn an_invitation_and_the_account_that_comes_of_it_are_told_without_link_or_password() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let acme = partner(&db, "acme").await;
    let token =
        invite(&db, By("ada@example.com"), "Bob@acme.example", InviteAs::Partner(acme)).await.unwrap();
    accept(&db, &token, "", "nine lives are enough").await.unwrap();
    let changes = told(&db, None).await;
    let told: Vec<_> = changes
        .iter()
        .map(|change| (change.who.as_str(), change.what.as_str(), change.name.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("bob@acme.example", "person", "bob@acme.example"),
            ("ada@example.com", "invitation", "bob@acme.example"),
        ]
    );
    assert_eq!(changes[0].after, Some(json!({ "role": "partner", "partner": "acme" })));
    let text = format!("{changes:?}");
    assert!(!text.contains(&token) && !text.contains("nine lives") && !text.contains("argon2"));
}
