//! The portal while the database is away.

use std::sync::Arc;
use std::time::Duration;

use app::posted::PAGES;
use http::{Request, StatusCode};
use toll::presence::Presence;

use super::{Answer, portal};

const SAID: &str = "Toll's database does not answer.";

fn left() -> Arc<Presence> {
    let presence = Arc::new(Presence::default());
    presence.left("no answer");
    presence
}

fn is_told(what: &str, answer: &Answer) {
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{what}: {}", answer.body);
    assert!(answer.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 0), "{what}");
}

#[tokio::test]
async fn every_page_says_so_and_tries_again_without_a_script_and_a_form_is_not_taken_for_kept() {
    let portal = portal("http://toll.example").await;
    let presence = left();
    let more = ["/ops", "/portal", "/r/0199f0a0-0000-7000-8000-000000000000", "/csv/ops"];
    for page in PAGES.iter().chain(&more) {
        let asked = Request::get(*page).header("accept", "text/html").extension(presence.clone());
        let answer = portal.ask(asked, "").await;
        is_told(page, &answer);
        assert_eq!(answer.header("refresh"), "5", "{page}");
        assert!(answer.body.contains(SAID) && answer.body.contains("/pkg/a.css"), "{page}: {}", answer.body);
        assert!(!answer.body.contains("form that you sent"), "{page}");
    }
    let sent = Request::post("/portal/people").header("accept", "text/html").extension(presence.clone());
    let answer = portal.ask(sent, "email=a").await;
    is_told("a form", &answer);
    assert!(answer.body.contains("form that you sent may not have been kept"), "{}", answer.body);
    let sent = Request::post("/_fn/sign_out").header("accept", "text/html").extension(presence.clone());
    assert_eq!(portal.ask(sent, "everywhere=false").await.header("refresh"), "5; url=/", "it takes no GET");
}

#[tokio::test]
async fn scripts_and_programs_are_told_in_their_own_way_and_files_are_served() {
    let (portal, presence) = (portal("http://toll.example").await, left());
    let called = Request::post("/_fn/who").header("accept", "application/json").extension(presence.clone());
    let answer = portal.ask(called, "").await;
    is_told("a function", &answer);
    assert_eq!((answer.header("content-type"), answer.body.as_str()), ("application/json", "\"Away\""));
    let answer = portal.ask(Request::get("/csv/ops").extension(presence.clone()), "").await;
    is_told("numbers", &answer);
    assert_eq!(answer.body, format!("{SAID}\n"));
    let file = portal.ask(Request::get("/pkg/a.js").extension(presence), "").await;
    assert_eq!(file.status, StatusCode::OK);
}

#[tokio::test]
async fn a_page_that_finds_it_out_by_itself_says_the_same() {
    let portal = portal("http://toll.example").await;
    portal.db.close().await;
    let page = portal.page("/", "").await;
    is_told("a page", &page);
    assert!(page.body.contains(SAID) && page.header("refresh") == "5", "{}", page.body);
    let cookie = format!("toll_session={}", "0".repeat(64));
    is_told("a function", &portal.call("ops_traffic", &cookie, "span=1h").await);
}

#[tokio::test]
async fn who_waits_for_the_database_when_it_goes_is_answered_then() {
    let (portal, presence) = (Arc::new(portal("http://toll.example").await), Arc::new(Presence::default()));
    let mut holder = portal.db.begin().await.unwrap();
    sqlx::query("lock table plan in access exclusive mode").execute(&mut *holder).await.unwrap();
    let asking = tokio::spawn({
        let (portal, presence) = (portal.clone(), presence.clone());
        async move { portal.ask(Request::get("/sign-up").extension(presence), "").await }
    });
    let waiting = "select exists (select from pg_locks where not granted and relation = 'plan'::regclass)";
    while !sqlx::query_scalar::<_, bool>(waiting).fetch_one(&portal.db).await.unwrap() {
        assert!(!asking.is_finished());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    presence.left("no answer");
    is_told("a page", &asking.await.unwrap());
}
