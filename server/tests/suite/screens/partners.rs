//! `/ops/partners`: finding, making and changing partners.

use app::changes::{By, What, list};
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::keys::{self, NewKey};
use app::people::{InviteAs, find_invitation};
use http::StatusCode;
use http::header::LOCATION;
use serde_json::json;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::text;
use crate::people::partner;
use crate::portal::{Portal, portal};
use crate::support::traffic::{catalog, ended, write};

async fn suspended(db: &PgPool, slug: &str) -> bool {
    let found = sqlx::query_scalar("select suspended from partner where slug = $1").bind(slug);
    found.fetch_one(db).await.unwrap()
}

/// An operator's session, and the partner `acme` on a plan of its own.
async fn shop() -> (Portal, String, i64) {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let acme = partner(&portal.db, "acme").await;
    sqlx::query("update plan set name = 'free' where name = 'plan of acme'")
        .execute(&portal.db)
        .await
        .unwrap();
    (portal, ada, acme)
}

#[tokio::test]
async fn a_partner_is_created_by_the_rules_of_the_file_and_by_an_operator_of_that_name() {
    let (portal, ada, _) = shop().await;
    let form = "slug=globex&name=Globex+Corp&plan=free";
    let made = portal.post("/ops/partners/new", &ada, form).await;
    assert_eq!((made.status, made.header(LOCATION.as_str())), (StatusCode::FOUND, "/ops/partners/globex"));
    let tokens: f64 = sqlx::query_scalar(
        "select tokens from bucket join partner on partner.id = partner_id where slug = 'globex'",
    )
    .fetch_one(&portal.db)
    .await
    .unwrap();
    assert_eq!(tokens, 60.0);
    let [change, ..] = &list(&portal.db, Some(What::Partner), None, 9).await.unwrap()[..] else { panic!() };
    assert_eq!((change.who.as_str(), change.name.as_str()), ("ada@example.com", "globex"));
    assert_eq!(change.after, Some(json!({ "name": "Globex Corp", "plan": "free" })));

    let twice = portal.post("/ops/partners/new", &ada, form).await;
    assert!(text(&twice).contains("there is a partner \"globex\" already"), "{}", twice.body);
    assert!(twice.body.contains("value=\"Globex Corp\""), "what was typed is still there");
    let bad = portal.post("/ops/partners/new", &ada, "slug=No+Slug&name=&plan=free").await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.body.contains("is no name: write 1 to 63 lower-case letters"), "{}", bad.body);
}

#[tokio::test]
async fn a_partner_is_suspended_let_in_again_and_put_on_another_plan() {
    let (portal, ada, acme) = shop().await;
    partner(&portal.db, "other").await;
    let page = "/ops/partners/acme";
    let version = || async {
        sqlx::query_scalar::<_, i64>("select version from catalog_version")
            .fetch_one(&portal.db)
            .await
            .unwrap()
    };
    let before = version().await;
    assert_eq!(portal.post(page, &ada, "act=suspend").await.status, StatusCode::FOUND);
    assert!(suspended(&portal.db, "acme").await && !suspended(&portal.db, "other").await);
    assert!(version().await > before, "every node hears of it");
    let told = text(&portal.page(page, &ada).await);
    assert!(told.contains("Suspended: all its requests are refused, until you let it in again."), "{told}");
    assert!(told.contains("Let it in again"), "{told}");
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let is_told = async || text(&portal.page("/portal", &bob).await).contains("You are suspended");
    assert!(is_told().await);
    portal.post(page, &ada, "act=resume").await;
    assert!(!is_told().await);
    assert!(!suspended(&portal.db, "acme").await);

    portal.post(page, &ada, "act=plan&plan=free").await;
    sqlx::query("update plan set name = 'gold' where name = 'plan of other'")
        .execute(&portal.db)
        .await
        .unwrap();
    portal.post(page, &ada, "act=plan&plan=gold").await;
    assert!(text(&portal.page(page, &ada).await).contains("gold"));
    let refused = portal.post(page, &ada, "act=plan&plan=none").await;
    assert!(text(&refused).contains("refers to plan \"none\", which does not exist"), "{}", refused.body);
}

#[tokio::test]
async fn a_rotated_key_and_its_successor_are_one_key_in_use_on_every_page() {
    let (portal, ada, acme) = shop().await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let new = NewKey { name: "production", ..NewKey::default() };
    let made = keys::create(&portal.db, By("bob@acme.example"), acme, new).await.unwrap();
    keys::rotate(&portal.db, By("bob@acme.example"), Some(acme), made.key.id, Duration::HOUR).await.unwrap();
    let said = async |page, cookie| text(&portal.page(page, cookie).await);
    assert!(said("/portal/keys", bob.as_str()).await.contains("1 of 10 keys is in use."));
    assert!(said("/ops/partners/acme", ada.as_str()).await.contains("Keys1 of 10 in use"));
    let sheet = portal.page("/csv/ops/partners?last=1h", &ada).await.body;
    assert!(sheet.contains("acme,ACME,free,no,1,"), "{sheet}");
}

#[tokio::test]
async fn an_invitation_and_a_password_link_are_shown_once_and_belong_to_that_partner() {
    let (portal, ada, acme) = shop().await;
    let page = "/ops/partners/acme";
    let answer = portal.post(page, &ada, "act=invite&email=bob%40acme.example").await;
    let link = |body: &str, path: &str| {
        body.split(path)
            .nth(1)
            .map(|rest| rest.chars().take_while(char::is_ascii_hexdigit).collect::<String>())
    };
    let token = link(&answer.body, "/invite/").expect("a link");
    let invitation = find_invitation(&portal.db, &token).await.unwrap().expect("good");
    assert_eq!(invitation.partner.as_deref(), Some("ACME"));
    let again = portal.page(page, &ada).await;
    assert!(!again.body.contains(&token) && again.body.contains("invited, link ends in"), "shown once");

    portal.session("carol@acme.example", InviteAs::Partner(acme)).await;
    let answer = portal.post(page, &ada, "act=reset&email=carol%40acme.example").await;
    assert!(link(&answer.body, "/reset/").is_some(), "{}", answer.body);
    // Only its own people: an operator's password is not reset by way of a partner.
    let answer = portal.post(page, &ada, "act=reset&email=ada%40example.com").await;
    assert!(link(&answer.body, "/reset/").is_none());
}

#[tokio::test]
async fn a_key_of_another_partner_is_not_revoked_by_this_ones_page() {
    let (portal, ada, acme) = shop().await;
    partner(&portal.db, "other").await;
    let key = keys::create(&portal.db, By("test"), acme, NewKey { name: "ci", ..NewKey::default() }).await;
    let id = key.unwrap().key.id;
    let form = format!("act=revoke&key={id}");
    assert_eq!(portal.post("/ops/partners/other", &ada, &form).await.status, StatusCode::NOT_FOUND);
    let honoured = || async { keys::list(&portal.db, Some(acme)).await.unwrap()[0].state.is_honoured() };
    assert!(honoured().await);
    assert_eq!(portal.post("/ops/partners/acme", &ada, &form).await.status, StatusCode::FOUND);
    assert!(!honoured().await);
}

#[tokio::test]
async fn partners_are_found_by_a_part_of_slug_or_name_and_shown_by_the_page() {
    let (portal, ada, _) = shop().await;
    for n in 0..60 {
        partner(&portal.db, &format!("shop-{n:02}")).await;
    }
    let shown = |body: &str| body.matches("<tr id=\"partner-").count();
    let first = portal.page("/ops/partners", &ada).await;
    assert_eq!(shown(&first.body), 50);
    assert!(first.body.contains("Page 1 of 2"), "{}", first.body);
    assert_eq!(shown(&portal.page("/ops/partners?page=2", &ada).await.body), 11);
    assert_eq!(shown(&portal.page("/ops/partners?search=SHOP-1", &ada).await.body), 10);
    // Signs of patterns are plain characters.
    assert_eq!(shown(&portal.page("/ops/partners?search=%25", &ada).await.body), 0);
}

#[tokio::test]
async fn a_partners_page_says_who_must_act_and_shows_what_the_partner_sees() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let quiet = text(&portal.page("/ops/partners/acme", &ada).await);
    assert!(quiet.contains("Nobody must act. Nothing arrived in this window."), "{quiet}");

    let of = |n: usize, stage, outcome| {
        let mut record = ended(stage, outcome);
        (record.partner, record.route) = (catalog.partners[n], catalog.routes[0]);
        record.key = catalog.keys[n];
        record
    };
    let mut records = vec![of(0, Stage::Quota, Outcome::QuotaSpent); 25];
    records.push(of(0, Stage::Proxy, Outcome::Forwarded));
    records.extend(vec![of(1, Stage::Quota, Outcome::QuotaSpent); 3]);
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(2), records)]).await;

    let answer = portal.page("/ops/partners/acme", &ada).await;
    let page = text(&answer);
    assert!(page.contains("acme or you can act: 25 of acme’s 26 requests went beyond its quota;"), "{page}");
    for shown in ["Its quota now", "Quota spentquota stage, 429 25", "the partner", "Over time", "By route"] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let evidence = "href=\"/ops/requests?last=1h&amp;stage=quota&amp;partner=acme\"";
    assert!(answer.body.contains(evidence), "{}", answer.body);
    // The partner reads the same of itself.
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    let own = text(&portal.page("/portal", &bob).await);
    assert!(own.contains("25 of your 26 requests went beyond your quota;"), "{own}");
    assert!(own.contains("Spread them out, or ask for a larger plan."), "{own}");

    // Once it has another plan, neither is asked to see to that.
    sqlx::raw_sql("insert into plan (name, capacity, refill_per_second) values ('large', 3000, 100)")
        .execute(&portal.db)
        .await
        .unwrap();
    portal.post("/ops/partners/acme", &ada, "act=plan&plan=large").await;
    let page = text(&portal.page("/ops/partners/acme", &ada).await);
    assert!(
        page.contains("Nobody must act: 25 of acme’s 26 requests")
            && page.contains("Its plan has changed since.")
    );
    let own = text(&portal.page("/portal", &bob).await);
    assert!(own.contains("Your plan has changed since.") && !own.contains("Spread them out"), "{own}");
}
