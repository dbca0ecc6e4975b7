//! What a browser, or who is behind it, must not be able to do.

use app::changes::By;
use app::people::InviteAs;
use http::header::{COOKIE, LOCATION, SET_COOKIE};
use http::{Request, StatusCode};

use super::{Answer, PASSWORD, partner, portal};

#[tokio::test]
async fn a_stranger_is_led_to_the_door_by_whatever_program_it_comes() {
    let portal = portal("http://toll.example").await;
    for accept in ["text/html", "*/*", "application/json"] {
        let led = portal.ask(Request::get("/ops?last=6h").header("accept", accept), "").await;
        assert_eq!(
            (led.status, led.header("location")),
            (StatusCode::FOUND, "/?next=%2Fops%3Flast%3D6h"),
            "{accept}"
        );
    }
}

#[tokio::test]
async fn another_sites_page_cannot_act_in_a_visitors_name() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let form = |name: &str, value: &str| {
        Request::post("/_fn/sign_out")
            .header("content-type", "application/x-www-form-urlencoded")
            .header(COOKIE, &ada)
            .header(name, value)
    };
    for (name, value) in
        [("sec-fetch-site", "cross-site"), ("origin", "http://evil.example"), ("origin", "null")]
    {
        assert_eq!(portal.ask(form(name, value), "everywhere=true").await.status, StatusCode::FORBIDDEN);
        let page = Request::post("/portal/keys/new").header(COOKIE, &ada).header(name, value);
        assert_eq!(portal.ask(page, "name=a&days=7").await.status, StatusCode::FORBIDDEN);
    }
    for (page, form) in [
        ("/account", "current=nine+lives+are+enough&password=a+brand+new+one"),
        ("/ops/people", "act=invite&email=eve%40evil.example"),
        ("/ops/partners/acme", "act=remove&email=bob%40acme.example"),
        ("/portal/people", "act=withdraw&email=bob%40acme.example"),
    ] {
        let page = Request::post(page).header(COOKIE, &ada).header("sec-fetch-site", "cross-site");
        let page = page.header("content-type", "application/x-www-form-urlencoded");
        assert_eq!(portal.ask(page, form).await.status, StatusCode::FORBIDDEN);
    }
    let get = portal.ask(Request::get("/_fn/sign_out?everywhere=true").header(COOKIE, &ada), "").await;
    assert_eq!(get.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(portal.page("/ops", &ada).await.status, StatusCode::OK);

    let own = portal.ask(form("origin", "http://toll.example"), "everywhere=true").await;
    assert!(own.status.is_success() || own.status.is_redirection(), "{}", own.status);
    assert_eq!(portal.page("/ops", &ada).await.status, StatusCode::FOUND);
}

#[tokio::test]
async fn signing_in_gives_a_new_cookie_that_scripts_cannot_read_and_ends_the_old_one() {
    let portal = portal("http://toll.example").await;
    let old = portal.session("ada@example.com", InviteAs::Ops).await;
    let form =
        format!("email=ada%40example.com&password={}&next=%2Fops%3Flast%3D6h", PASSWORD.replace(' ', "+"));
    let answer = portal.call("sign_in", &old, &form).await;
    let cookie = answer.header(SET_COOKIE.as_str());
    assert!(cookie.starts_with("toll_session=") && cookie.contains("; HttpOnly; SameSite=Lax"), "{cookie}");
    assert_eq!(answer.header(LOCATION.as_str()), "/ops?last=6h");
    let new = cookie.split(';').next().unwrap();
    assert_ne!(new, old);
    assert_eq!(portal.page("/ops", &old).await.status, StatusCode::FOUND);
    assert_eq!(portal.page("/ops", new).await.status, StatusCode::OK);

    let elsewhere = form.replace("%2Fops", "%2F%2Fevil.example");
    assert_eq!(portal.call("sign_in", "", &elsewhere).await.header(LOCATION.as_str()), "/ops");
}

#[tokio::test]
async fn over_https_the_cookie_is_bound_to_the_host() {
    let portal = portal("https://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let form = format!("email=ada%40example.com&password={}&next=", PASSWORD.replace(' ', "+"));
    let answer = portal.call("sign_in", "", &form).await;
    let cookie = answer.header(SET_COOKIE.as_str());
    assert!(cookie.starts_with("__Host-toll_session=") && cookie.ends_with("; Secure"), "{cookie}");
    assert!(cookie.contains("; Path=/;"), "{cookie}");
    assert_eq!(portal.page("/ops", cookie.split(';').next().unwrap()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_get_the_same_answer() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let wrong = portal.call("sign_in", "", "email=ada%40example.com&password=wrong+password&next=").await;
    let unknown = portal.call("sign_in", "", "email=eve%40example.com&password=wrong+password&next=").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!((wrong.status, &wrong.body), (unknown.status, &unknown.body));
    assert!(!wrong.headers.contains_key(SET_COOKIE));
}

#[tokio::test]
async fn only_scripts_with_the_pages_own_nonce_run_and_no_page_may_frame_it() {
    let portal = portal("http://toll.example").await;
    let nonce = |answer: &Answer| {
        let policy = answer.header("content-security-policy").to_owned();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
        policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or_default().to_owned()
    };
    let (one, two) = (portal.page("/", "").await, portal.page("/", "").await);
    assert_ne!(nonce(&one), nonce(&two));
    let attribute = format!("nonce=\"{}\"", nonce(&one));
    for script in one.body.split("<script").skip(1) {
        let tag = script.split('>').next().unwrap_or_default();
        assert!(tag.contains(&attribute), "<script{tag}>");
    }
    assert!(!one.body.contains(" style="), "style attributes are what the policy forbids");
    for answer in [&one, &portal.page("/nothing", "").await, &portal.page("/pkg/a.js", "").await] {
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
    }
}

#[tokio::test]
async fn what_the_database_says_stays_with_toll() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    sqlx::query("alter table session rename to elsewhere").execute(&portal.db).await.unwrap();
    let answer = portal.call("ops_traffic", &ada, "span=1h").await;
    assert_eq!((answer.status, answer.body.as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "\"Internal\""));
    let page = portal.page("/ops", &ada).await;
    assert_eq!(page.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(!page.body.contains("relation") && page.body.contains("It has been logged."));
}

#[tokio::test]
async fn no_page_may_be_framed_or_sniffed_and_none_holds_a_script_or_style_of_its_own() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let mut answers = Vec::new();
    for path in [
        "/",
        "/portal",
        "/portal/keys",
        "/portal/keys/new",
        "/portal/docs",
        "/portal/people",
        "/account",
        "/r/x",
        "/no",
        "/ops",
    ] {
        answers.push((path, portal.page(path, &bob).await));
    }
    answers.push(("the key", portal.post("/portal/keys/new", &bob, "name=a&days=7").await));
    answers
        .push(("the link", portal.post("/portal/people", &bob, "act=invite&email=eve%40acme.example").await));
    for (path, answer) in answers {
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert!(answer.header("cache-control").contains("no-store"), "{path}");
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"),
            "{path}: {policy}"
        );
        assert!(!answer.body.contains(" style=") && !answer.body.contains(" onclick="), "{path}");
        for script in answer.body.split("<script").skip(1) {
            assert!(script.split('>').next().unwrap_or_default().contains("nonce="), "{path}");
        }
    }
}

#[tokio::test]
async fn names_that_people_choose_are_text_on_every_page() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let evil = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(1)>";
    sqlx::query("update partner set name = $1").bind(evil).execute(&portal.db).await.unwrap();
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let form = "name=%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%22'%3Cimg+src%3Dx+onerror%3Dalert(1)%3E&days=7";
    let made = portal.post("/portal/keys/new", &bob, form).await;
    assert_eq!(made.status, StatusCode::OK);
    let invited =
        portal.post("/portal/people", &bob, "act=invite&email=%3Cimg%2Fsrc%3Dx%3E%40evil.example").await;
    let mut pages = vec![made, invited];
    for path in [
        "/portal",
        "/portal/keys",
        "/portal/keys/new",
        "/portal/keys/1/rename",
        "/portal/keys/1/revoke",
        "/portal/docs",
        "/portal/people",
    ] {
        pages.push(portal.page(path, &bob).await);
    }
    let carol = ("carol@acme.example", InviteAs::Partner(acme));
    let link = app::people::invite(&portal.db, By("ada@example.com"), carol.0, carol.1).await.unwrap();
    pages.push(portal.page(&format!("/invite/{link}"), "").await);
    for page in pages {
        assert!(!page.body.contains("<script>alert") && !page.body.contains("<img"), "{}", page.body);
    }
}

#[tokio::test]
async fn after_signing_in_nobody_is_led_to_another_site() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    for next in [
        "https%3A%2F%2Fevil.example",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "%5C%5Cevil.example",
        "javascript%3Aalert(1)",
        "%2Fops%0D%0ALocation%3A+https%3A%2F%2Fevil.example",
        "%2F_fn%2Fsign_out",
        "%2Fapi%2Forders",
        "%2F%09%2Fevil.example",
    ] {
        let form = format!("email=ada%40example.com&password={}&next={next}", PASSWORD.replace(' ', "+"));
        let answer = portal.call("sign_in", "", &form).await;
        assert_eq!(answer.header(LOCATION.as_str()), "/ops", "{next}");
    }
}

#[tokio::test]
async fn signing_out_everywhere_ends_the_sessions_of_all_browsers() {
    let portal = portal("http://toll.example").await;
    let here = portal.session("ada@example.com", InviteAs::Ops).await;
    let form = format!("email=ada%40example.com&password={}&next=", PASSWORD.replace(' ', "+"));
    let answer = portal.call("sign_in", "", &form).await;
    let there = answer.header(SET_COOKIE.as_str()).split(';').next().unwrap().to_owned();
    assert_eq!(portal.page("/ops", &there).await.status, StatusCode::OK);
    portal.call("sign_out", &here, "everywhere=true").await;
    for cookie in [here, there] {
        assert_eq!(portal.page("/ops", &cookie).await.status, StatusCode::FOUND);
    }
}

#[tokio::test]
async fn who_guesses_a_password_is_stopped_and_the_owners_browser_is_not() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let form =
        |password: &str| format!("email=ada%40example.com&password={}&next=", password.replace(' ', "+"));
    let first = portal.call("sign_in", "", &form(PASSWORD)).await;
    let device = first.headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let device = device
        .filter_map(|cookie| cookie.split(';').next())
        .find(|pair| pair.starts_with("toll_device="))
        .unwrap();
    for _ in 0..10 {
        let wrong = portal.call("sign_in", "", &form("a wrong password")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(portal.call("sign_in", "", &form(PASSWORD)).await.status, StatusCode::TOO_MANY_REQUESTS);
    let owner = portal.call("sign_in", device, &form(PASSWORD)).await;
    assert_eq!(owner.header(LOCATION.as_str()), "/ops");
}
