//! Forms that pages answer by themselves: what is refused comes back with what was typed.

use app::changes::By;
use app::keys::{self, NewKey};
use app::people::{InviteAs, first_ops_link, issue};
use app::posted::PAGES;
use http::header::{LOCATION, SET_COOKIE};
use http::{Request, StatusCode};

use super::{PASSWORD, Portal, portal};
use crate::support::catalog::{declare, plain};

/// A page that takes forms, as `PAGES` writes it and as it is asked for; whose it is; what is typed that cannot be taken, and
/// of that what the answer must still hold.
struct Form {
    page: &'static str,
    address: String,
    cookie: String,
    typed: String,
    kept: Vec<&'static str>,
}

async fn wrong_forms(portal: &Portal) -> Vec<Form> {
    declare(&portal.db, &plain().replace("[[plan]]", "[[plan]]\nsign_up = true")).await;
    let first = first_ops_link(&portal.db, "").await.unwrap().unwrap();
    let acme = keys::partner_by_slug(&portal.db, "acme").await.unwrap();
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let reset = issue(&portal.db, By("test"), "bob@acme.example").await.unwrap();
    let key = keys::create(&portal.db, By("test"), acme, NewKey { name: "one", ..NewKey::default() }).await;
    let key = key.unwrap().key.id;
    let nobody = String::new;
    let long = "long".repeat(26);
    let form = |page, address: String, cookie: String, typed: String, kept| Form {
        page,
        address,
        cookie,
        typed,
        kept,
    };
    vec![
        form(
            "/",
            "/?next=%2Fops".into(),
            nobody(),
            "email=eve%40acme.example&password=wrong+one".into(),
            vec!["value=\"eve@acme.example\""],
        ),
        form(
            "/invite/{token}",
            first,
            nobody(),
            "email=eve%40acme.example&password=wrong+one".into(),
            vec!["value=\"eve@acme.example\""],
        ),
        form("/reset/{token}", format!("/reset/{reset}"), nobody(), "password=wrong+one".into(), vec![]),
        form(
            "/sign-up",
            "/sign-up".into(),
            nobody(),
            "plan=free&name=Acme&email=eve%40acme.example&password=wrong+one".into(),
            vec!["value=\"Acme\"", "value=\"eve@acme.example\""],
        ),
        form(
            "/account",
            "/account".into(),
            bob.clone(),
            "current=wrong+one&password=wrong+one".into(),
            vec!["bob@acme.example"],
        ),
        form(
            "/portal/keys/new",
            "/portal/keys/new".into(),
            bob.clone(),
            format!("name={long}&days=90"),
            vec!["longlonglong\"", "value=\"90\" checked"],
        ),
        form(
            "/portal/keys/{id}/{act}",
            format!("/portal/keys/{key}/rename"),
            bob.clone(),
            format!("name={long}"),
            vec!["longlonglong\""],
        ),
        form(
            "/portal/people",
            "/portal/people".into(),
            bob,
            "act=invite&email=no+address".into(),
            vec!["value=\"no address\""],
        ),
        form(
            "/ops/partners/new",
            "/ops/partners/new".into(),
            ada.clone(),
            "slug=No+Slug&name=Umbrella&plan=free".into(),
            vec!["value=\"No Slug\"", "value=\"Umbrella\""],
        ),
        form(
            "/ops/partners/{slug}",
            "/ops/partners/acme".into(),
            ada.clone(),
            "act=invite&email=no+address".into(),
            vec!["value=\"no address\""],
        ),
        form(
            "/ops/people",
            "/ops/people".into(),
            ada.clone(),
            "act=invite&email=no+address".into(),
            vec!["value=\"no address\""],
        ),
        form(
            "/ops/routes/new",
            "/ops/routes/new".into(),
            ada.clone(),
            "name=shelf&path=shelf&upstream=orders".into(),
            vec!["value=\"shelf\""],
        ),
        form(
            "/ops/routes/{name}",
            "/ops/routes/orders".into(),
            ada.clone(),
            "path=shelf&upstream=orders".into(),
            vec!["value=\"shelf\""],
        ),
        form(
            "/ops/cache",
            "/ops/cache?last=6h".into(),
            ada,
            "kind=tag&target=a%2Cb".into(),
            vec!["value=\"a,b\"", "value=\"tag\" selected"],
        ),
    ]
}

#[tokio::test]
async fn what_a_form_was_refused_with_is_in_the_form_that_comes_back_but_for_the_password() {
    let portal = portal("http://toll.example").await;
    let forms = wrong_forms(&portal).await;
    for page in PAGES {
        assert!(forms.iter().any(|form| form.page == page), "{page}: what can be typed wrong there?");
    }
    for Form { address, cookie, typed, kept, .. } in forms {
        let answer = portal.post(&address, &cookie, &typed).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{address}: {}", answer.body);
        // Not in an address, from where it would get into logs and histories.
        assert_eq!(answer.header(LOCATION.as_str()), "", "{address}");
        assert!(!answer.body.contains("wrong one"), "{address} repeats the password");
        for text in kept {
            assert!(answer.body.contains(text), "{address} has forgotten {text}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn the_door_answers_an_unknown_address_as_it_answers_a_wrong_password() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let wrong = portal.post("/", "", "email=ada%40example.com&password=wrong+password").await;
    let unknown = portal.post("/", "", "email=eve%40example.com&password=wrong+password").await;
    // But for the nonces, and for the address itself.
    assert_eq!((wrong.status, wrong.body.len()), (unknown.status, unknown.body.len()));
    let without = |answer: &super::Answer| answer.body.split("nonce").next().unwrap_or_default().len();
    assert_eq!(without(&wrong), without(&unknown));
    assert!(!wrong.headers.contains_key(SET_COOKIE));
}

#[tokio::test]
async fn while_nobody_has_an_account_the_door_says_where_the_first_link_is() {
    let portal = portal("http://toll.example").await;
    first_ops_link(&portal.db, "").await.unwrap();
    let told = |body: &str| body.contains("Nobody has an account yet.") && body.contains("toll users invite");
    assert!(told(&portal.page("/", "").await.body));
    portal.session("ada@example.com", InviteAs::Ops).await;
    let door = portal.page("/", "").await.body;
    assert!(!door.contains("Nobody has an account yet.") && !door.contains("toll users"));
}

#[tokio::test]
async fn signing_in_without_scripts_leads_to_where_one_wanted_to_go() {
    let portal = portal("http://toll.example").await;
    portal.session("ada@example.com", InviteAs::Ops).await;
    let form = format!("email=ada%40example.com&password={}", PASSWORD.replace(' ', "+"));
    for (address, led) in
        [("/?next=%2Fops%3Flast%3D6h", "/ops?last=6h"), ("/", "/ops"), ("/?next=%2F%2Fevil.example", "/ops")]
    {
        let answer = portal.post(address, "", &form).await;
        assert_eq!((answer.status, answer.header(LOCATION.as_str())), (StatusCode::FOUND, led), "{address}");
        let cookie = answer.header(SET_COOKIE.as_str()).split(';').next().unwrap().to_owned();
        assert_eq!(portal.page("/ops", &cookie).await.status, StatusCode::OK, "{address}");
    }
}

#[tokio::test]
async fn a_form_leads_back_to_the_page_that_it_came_from_and_leaves_no_bare_question_mark() {
    let portal = portal("http://toll.example").await;
    declare(&portal.db, &plain()).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    for page in ["http://toll.example/ops/routes", "http://toll.example/ops/routes?last=6h"] {
        let form = Request::post("/_fn/switch_route")
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "text/html")
            .header("origin", "http://toll.example")
            .header("referer", page)
            .header("cookie", &ada);
        let answer = portal.ask(form, "name=orders&off=true").await;
        assert_eq!((answer.status, answer.header(LOCATION.as_str())), (StatusCode::FOUND, page));
    }
}
