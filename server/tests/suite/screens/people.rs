//! `/ops/people`, a partner's people and `/portal/people`: removing somebody, and withdrawing an invitation.

use app::people::{InviteAs, find_invitation};
use http::StatusCode;
use http::header::LOCATION;

use super::text;
use crate::people::partner;
use crate::portal::{Answer, Portal, portal};

/// The token behind `/invite/` or `/reset/`.
fn token(answer: &Answer, path: &str) -> Option<String> {
    let rest = answer.body.split(path).nth(1)?;
    Some(rest.chars().take_while(char::is_ascii_hexdigit).collect())
}

fn leads_to(answer: &Answer, page: &str) {
    assert_eq!(
        (answer.status, answer.header(LOCATION.as_str())),
        (StatusCode::FOUND, page),
        "{}",
        answer.body
    );
}

/// Ada runs the gateway; Bob and Carol sign in for `acme`, Eve for `globex`. Their sessions.
struct House {
    portal: Portal,
    ada: String,
    bob: String,
    carol: String,
    eve: String,
}

async fn house() -> House {
    let portal = portal("http://toll.example").await;
    let (acme, globex) = (partner(&portal.db, "acme").await, partner(&portal.db, "globex").await);
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let carol = portal.session("carol@acme.example", InviteAs::Partner(acme)).await;
    let eve = portal.session("eve@globex.example", InviteAs::Partner(globex)).await;
    House { portal, ada, bob, carol, eve }
}

#[tokio::test]
async fn operators_invite_withdraw_and_remove_each_other_and_stay_at_least_one() {
    let House { portal, ada, .. } = house().await;
    let page = "/ops/people";
    let alone = text(&portal.page(page, &ada).await);
    assert!(
        alone.contains("You alone run this gateway.") && alone.contains("ada@example.com you"),
        "{alone}"
    );
    assert!(!alone.contains("Remove ada@example.com") && !alone.contains("bob@acme.example"), "{alone}");

    let made = portal.post(page, &ada, "act=invite&email=olga%40example.com").await;
    let link = token(&made, "/invite/").expect("a link");
    assert!(text(&made).contains("invited, link ends in 3 days"), "{}", text(&made));
    leads_to(&portal.post(page, &ada, "act=withdraw&email=olga%40example.com").await, page);
    assert_eq!(find_invitation(&portal.db, &link).await.unwrap(), None);
    assert!(!portal.page(page, &ada).await.body.contains("olga@example.com"));

    let olga = portal.session("olga@example.com", InviteAs::Ops).await;
    let reset = portal.post(page, &ada, "act=reset&email=olga%40example.com").await;
    assert!(token(&reset, "/reset/").is_some() && text(&reset).contains("once, within 24 hours"));
    leads_to(&portal.post(page, &ada, "act=remove&email=olga%40example.com").await, page);
    assert_eq!(portal.page("/ops", &olga).await.status, StatusCode::FOUND, "signed out");

    for (form, told) in [
        ("act=remove&email=ada%40example.com", "You cannot remove yourself: somebody else can."),
        ("act=remove&email=bob%40acme.example", "Nobody here has an account with the address"),
        ("act=reset&email=bob%40acme.example", "Nobody here has an account with that address."),
        ("act=withdraw&email=olga%40example.com", "There is no invitation for"),
    ] {
        let refused = portal.post(page, &ada, form).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(text(&refused).contains(told), "{form}: {}", text(&refused));
    }
}

#[tokio::test]
async fn an_operator_removes_a_partners_people_on_its_page_and_the_last_one_too() {
    let House { portal, ada, bob, carol, eve } = house().await;
    let page = "/ops/partners/acme";
    for person in ["bob", "carol"] {
        let form = format!("act=remove&email={person}%40acme.example");
        leads_to(&portal.post(page, &ada, &form).await, page);
    }
    for cookie in [bob, carol] {
        assert_eq!(portal.page("/portal", &cookie).await.status, StatusCode::FOUND);
    }
    assert!(text(&portal.page(page, &ada).await).contains("Nobody signs in for this partner yet."));
    let elsewhere = portal.post(page, &ada, "act=remove&email=eve%40globex.example").await;
    assert_eq!(elsewhere.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(portal.page("/portal", &eve).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_partners_person_removes_a_colleague_and_nobody_else() {
    let House { portal, bob, carol, eve, ada } = house().await;
    let page = "/portal/people";
    for somebody in ["eve%40globex.example", "ada%40example.com", "nobody%40example.com"] {
        let refused = portal.post(page, &bob, &format!("act=remove&email={somebody}")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        // The same of those who have an account elsewhere as of those who have none.
        assert!(text(&refused).contains("Nobody here has an account with the address"), "{}", text(&refused));
    }
    for cookie in [&eve, &ada] {
        assert_eq!(portal.page("/account", cookie).await.status, StatusCode::OK);
    }
    let himself = portal.post(page, &bob, "act=remove&email=bob%40acme.example").await;
    assert!(text(&himself).contains("You cannot remove yourself"), "{}", text(&himself));
    leads_to(&portal.post(page, &bob, "act=remove&email=carol%40acme.example").await, page);
    assert_eq!(portal.page("/portal", &carol).await.status, StatusCode::FOUND);
    assert!(text(&portal.page(page, &bob).await).contains("You alone see this traffic"));
}

#[tokio::test]
async fn a_withdrawn_link_says_what_any_dead_link_says() {
    let House { portal, bob, eve, .. } = house().await;
    let page = "/portal/people";
    let link =
        token(&portal.post(page, &bob, "act=invite&email=dave%40acme.example").await, "/invite/").unwrap();
    let others = portal.post(page, &eve, "act=withdraw&email=dave%40acme.example").await;
    assert_eq!(others.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(portal.page(&format!("/invite/{link}"), "").await.body.contains("dave@acme.example"));

    leads_to(&portal.post(page, &bob, "act=withdraw&email=dave%40acme.example").await, page);
    let dead = portal.page(&format!("/invite/{link}"), "").await;
    let never = portal.page(&format!("/invite/{}", "0".repeat(64)), "").await;
    assert_eq!((dead.status, text(&dead)), (never.status, text(&never)));
    assert_eq!(dead.status, StatusCode::GONE);
    let used = portal.post(&format!("/invite/{link}"), "", "password=nine+lives+are+enough").await;
    assert_eq!((used.status, text(&used)), (dead.status, text(&dead)));
}

/// How many invitations there are, and how many changes were written down.
async fn marks(portal: &Portal) -> (i64, i64) {
    let counts = "select (select count(*) from invitation), (select count(*) from change)";
    sqlx::query_as(counts).fetch_one(&portal.db).await.unwrap()
}

#[tokio::test]
async fn a_form_that_does_not_say_what_it_does_is_incomplete_and_does_nothing() {
    let House { portal, ada, bob, .. } = house().await;
    let before = marks(&portal).await;
    for (page, cookie) in [("/ops/people", &ada), ("/ops/partners/acme", &ada), ("/portal/people", &bob)] {
        for act in ["", "act=&", "act=nothing&", "act=Invite&", "act=invite%20&", "acts=invite&"] {
            for email in ["dave%40acme.example", "carol%40acme.example"] {
                let refused = portal.post(page, cookie, &format!("{act}email={email}")).await;
                assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{page}: {act}");
                let told = text(&refused);
                assert!(told.contains("The form was incomplete."), "{page}: {act}: {told}");
            }
        }
    }
    assert_eq!(marks(&portal).await, before);
}

#[tokio::test]
async fn operators_are_told_at_once_that_an_address_has_an_account_and_where() {
    let House { portal, ada, .. } = house().await;
    let before = marks(&portal).await;
    for page in ["/ops/people", "/ops/partners/acme"] {
        for (email, told) in [
            ("bob%40acme.example", "bob@acme.example has an account already, for the partner acme,"),
            ("EVE%40globex.example", "eve@globex.example has an account already, for the partner globex,"),
            ("ada%40example.com", "ada@example.com has an account already, as an operator,"),
        ] {
            let refused = portal.post(page, &ada, &format!("act=invite&email={email}")).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{page}: {email}");
            assert!(text(&refused).contains(told), "{page}: {}", text(&refused));
            assert!(text(&refused).contains("Remove it there first, or invite another address."));
        }
    }
    assert_eq!(marks(&portal).await, before);
}

/// Otherwise anybody could ask who is whose customer.
#[tokio::test]
async fn a_partner_is_told_of_colleagues_that_they_are_there_and_of_nobody_else() {
    let House { portal, bob, .. } = house().await;
    let page = "/portal/people";
    for colleague in ["carol%40acme.example", "Carol%40ACME.example", "bob%40acme.example"] {
        let refused = portal.post(page, &bob, &format!("act=invite&email={colleague}")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(text(&refused).contains("is a colleague already"), "{}", text(&refused));
    }
    let mut answers = Vec::new();
    for stranger in ["eve@globex.example", "ada@example.com", "new@globex.example"] {
        let form = format!("act=invite&email={}", stranger.replace('@', "%40"));
        let made = portal.post(page, &bob, &form).await;
        let link = token(&made, "/invite/").unwrap();
        // What the link shows before it is used says nothing either.
        let opened = portal.page(&format!("/invite/{link}"), "").await;
        let plain = |text: String| text.replace(stranger, "SOMEBODY").replace(&link, "TOKEN");
        answers.push((opened.status, plain(text(&opened)), link));
        assert!(text(&made).contains(&format!("A link for {stranger}")));
    }
    let [eve, ada, new] = &answers[..] else { unreachable!() };
    assert_eq!((&eve.0, &eve.1), (&new.0, &new.1));
    assert_eq!((&ada.0, &ada.1), (&new.0, &new.1));

    // Whoever holds it is told what to do, and the link stays good for an operator to look into.
    let used = portal.post(&format!("/invite/{}", eve.2), "", "password=nine+lives+are+enough").await;
    assert_eq!(used.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = text(&used);
    assert!(
        told.contains("This address has an account already") && told.contains("Sign in with it"),
        "{told}"
    );
    assert!(used.body.contains("<a href=\"/\">Sign in</a>"), "{}", used.body);
}

#[tokio::test]
async fn a_partners_person_invites_twenty_within_an_hour_and_withdrawing_makes_no_room() {
    let House { portal, ada, bob, carol, .. } = house().await;
    let page = "/portal/people";
    let act = |what: &str, n: usize| format!("act={what}&email=guess{n}%40example.com");
    for n in 1..20 {
        assert_eq!(portal.post(page, &bob, &act("invite", n)).await.status, StatusCode::OK, "{n}");
        leads_to(&portal.post(page, &bob, &act("withdraw", n)).await, page);
    }
    let (last, one_more) = (act("invite", 20), act("invite", 21));
    let both = futures::join!(portal.post(page, &bob, &last), portal.post(page, &bob, &one_more));
    let mut statuses = [both.0.status, both.1.status];
    statuses.sort();
    assert_eq!(
        statuses,
        [StatusCode::OK, StatusCode::TOO_MANY_REQUESTS],
        "of two at once one is the twentieth"
    );

    let before = marks(&portal).await;
    let refused = portal.post(page, &bob, &act("invite", 22)).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    // Until the first is an hour old, however long this took.
    let minutes = refused.header("retry-after").parse::<u32>().unwrap() / 60;
    assert!((2..=60).contains(&minutes), "{minutes}");
    let told = format!("Too many attempts. Wait {minutes} minutes and try again.");
    assert!(text(&refused).contains(&told), "{}", text(&refused));
    assert!(refused.body.contains("guess22@example.com"), "what was typed is still there");
    assert_eq!(marks(&portal).await, before);

    // Colleagues and operators are not held up by it, and he himself for an hour.
    assert_eq!(portal.post(page, &carol, &act("invite", 22)).await.status, StatusCode::OK);
    assert_eq!(portal.post("/ops/partners/acme", &ada, &act("invite", 23)).await.status, StatusCode::OK);
    sqlx::query("update change set at = at - interval '1 hour'").execute(&portal.db).await.unwrap();
    assert_eq!(portal.post(page, &bob, &act("invite", 24)).await.status, StatusCode::OK);
}
