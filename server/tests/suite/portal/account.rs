//! `/account`: another password, and signing out everywhere.

use app::changes::{By, What, list};
use app::people::{InviteAs, find_reset, issue};
use app::session::store;
use http::StatusCode;
use http::header::SET_COOKIE;
use serde_json::json;

use super::{Answer, PASSWORD, Portal, partner, portal};

fn form(current: &str, password: &str) -> String {
    format!("current={}&password={}", current.replace(' ', "+"), password.replace(' ', "+"))
}

/// The cookie of a kind that the answer sets, as the browser sends it.
fn cookie(answer: &Answer, name: &str) -> String {
    let cookies = answer.headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let mut pairs = cookies.filter_map(|cookie| cookie.split(';').next());
    pairs.find(|pair| pair.starts_with(name)).unwrap_or_else(|| panic!("no {name}")).to_owned()
}

async fn sign_in(portal: &Portal, password: &str) -> StatusCode {
    let form = format!("email=ada%40example.com&password={}&next=", password.replace(' ', "+"));
    portal.call("sign_in", "", &form).await.status
}

#[tokio::test]
async fn whoever_knows_the_password_changes_it_and_is_signed_in_here_alone() {
    let portal = portal("http://toll.example").await;
    let here = portal.session("ada@example.com", InviteAs::Ops).await;
    let ada: i64 = sqlx::query_scalar("select id from person").fetch_one(&portal.db).await.unwrap();
    let there = format!("toll_session={}", store::create(&portal.db, ada).await.unwrap());
    let link = issue(&portal.db, By("test"), "ada@example.com").await.unwrap();
    assert!(portal.page("/account", &here).await.body.contains("signed in here and in 1 other browser"));

    let done = portal.post("/account", &here, &form(PASSWORD, "a brand new one")).await;
    assert_eq!((done.status, done.header("location")), (StatusCode::FOUND, "/account?changed=1"));
    let fresh = cookie(&done, "toll_session=");
    for over in [&here, &there] {
        assert_ne!(*over, fresh);
        assert_eq!(portal.page("/ops", over).await.status, StatusCode::FOUND);
    }
    let page = portal.page("/account?changed=1", &fresh).await;
    assert!(page.body.contains("Your password is changed"), "{}", page.body);
    assert!(page.body.contains("You are signed in here only."), "{}", page.body);
    assert_eq!(find_reset(&portal.db, &link).await.unwrap(), None, "older ways to set one are over");
    assert_eq!(sign_in(&portal, PASSWORD).await, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(sign_in(&portal, "a brand new one").await, StatusCode::OK);

    let changes = list(&portal.db, Some(What::Password), None, 9).await.unwrap();
    assert_eq!((changes[0].who.as_str(), changes[0].name.as_str()), ("ada@example.com", "ada@example.com"));
    assert_eq!(changes[0].after, Some(json!({ "password": "set anew" })));
    assert!(!format!("{changes:?}").contains("brand new"));
}

#[tokio::test]
async fn a_wrong_a_short_or_the_same_password_changes_nothing_and_is_not_repeated() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    for (current, password, told) in [
        ("not the one", "a brand new one", "The current password is wrong."),
        (PASSWORD, "too short", "A password has at least 10 characters."),
        (PASSWORD, PASSWORD, "The new password is the current one. Choose another."),
        ("not the one", "not the one", "The current password is wrong."),
    ] {
        let refused = portal.post("/account", &bob, &form(current, password)).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.body.contains(told), "{}", refused.body);
        assert!(!refused.body.contains(current) && !refused.body.contains(password));
        assert!(!refused.headers.contains_key(SET_COOKIE));
    }
    assert_eq!(portal.page("/account", &bob).await.status, StatusCode::OK, "still signed in");
}

#[tokio::test]
async fn guessing_at_the_current_password_is_stopped_as_guessing_at_the_door_is() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    for _ in 0..5 {
        sign_in(&portal, "a wrong password").await;
        portal.post("/account", &ada, &form("a wrong password", "a brand new one")).await;
    }
    let right = portal.post("/account", &ada, &form(PASSWORD, "a brand new one")).await;
    assert_eq!((right.status, right.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, "900"));
    assert!(right.body.contains("Too many attempts. Wait 15 minutes"), "{}", right.body);
}

#[tokio::test]
async fn every_page_of_whoever_is_signed_in_leads_to_the_account_and_that_signs_out_everywhere() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    for (pages, cookie) in [
        (&["/ops", "/ops/partners/acme", "/ops/people", "/ops/requests", "/account"][..], &ada),
        (&["/portal", "/portal/keys/new", "/portal/people", "/portal/docs", "/account"], &bob),
    ] {
        for page in pages {
            let answer = portal.page(page, cookie).await;
            assert!(answer.body.contains("href=\"/account\""), "{page}: {}", answer.status);
        }
    }
    let account = portal.page("/account", &bob).await;
    assert!(account.body.contains("Sign out everywhere"));
    assert!(account.body.contains("ACME"), "{}", account.body);
    let out = portal.call("sign_out", &bob, "everywhere=true").await;
    assert_eq!(out.header("location"), "/");
    assert_eq!(portal.page("/account", &bob).await.header("location"), "/?next=%2Faccount");
}
