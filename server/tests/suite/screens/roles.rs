//! Who may what: every page and every server function, as a stranger, as a partner and as an operator.

pub mod rules;

use app::changes::By;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::keys::{self, NewKey};
use app::people::{InviteAs, accept, invite};
use app::sheets::PREFIX;
use http::StatusCode;
use sqlx::{AssertSqlSafe, PgPool};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use self::rules::Whose::{Anybody, Ops, Partner};
use self::rules::{functions, pages, takes_forms};
use crate::portal::{Answer, Portal, portal};
use crate::support::catalog::{declare, plain};
use crate::support::traffic::{ended, write};

/// In everything of the other partner's that is not an address of it, and in nothing that a request of ours says.
const MARK: &str = "clandestine";

const OTHER: &str = r#"
[[partner]]
slug = "globex"
name = "Globex, clandestine"
plan = "free"
"#;

/// One of the other partner's people, whom our requests name; invited once more, too.
const EVE: &str = "eve@globex.example";

/// Two partners, and how to name what is the other one's.
struct Two {
    portal: Portal,
    other: i64,
    key: i64,
    request: Uuid,
}

async fn two() -> Two {
    let portal = portal("http://toll.example").await;
    declare(&portal.db, &(plain() + OTHER)).await;
    let other = keys::partner_by_slug(&portal.db, "globex").await.unwrap();
    let key = NewKey { name: "clandestine", ..NewKey::default() };
    let key = keys::create(&portal.db, By("test"), other, key).await.unwrap().key.id;
    portal.session("clandestine@globex.example", InviteAs::Partner(other)).await;
    let used =
        invite(&portal.db, By("test"), EVE, InviteAs::Partner(other)).await.expect("nobody's address yet");
    // Another link that is still open, as there may be of two teams.
    sqlx::query(
        "insert into invitation (token_hash, email, made_by, role, partner_id, expires_at)
         select sha256('kept'), email, made_by, role, partner_id, expires_at from invitation where email = $1",
    )
    .bind(EVE)
    .execute(&portal.db)
    .await
    .unwrap();
    // With a password that no form of ours says.
    accept(&portal.db, &used, "", "a password that nobody guesses").await.unwrap();
    let mut record = ended(Stage::Quota, Outcome::QuotaSpent);
    (record.partner, record.key) = (other, key);
    record.route = sqlx::query_scalar("select id from route").fetch_one(&portal.db).await.unwrap();
    (record.path, record.user_agent) = ("/api/orders/clandestine".into(), "clandestine".into());
    write(&portal.db, vec![(OffsetDateTime::now_utc() - Duration::minutes(2), vec![record; 3])]).await;
    let request =
        sqlx::query_scalar("select id from request_log limit 1").fetch_one(&portal.db).await.unwrap();
    Two { portal, other, key, request }
}

impl Two {
    /// Fields and parameters of everything, naming the other one's wherever that can be named; once for each that an `id`
    /// may stand for.
    fn forms(&self) -> [String; 2] {
        let Two { other, key, request, .. } = self;
        [key.to_string(), request.to_string()].map(|id| {
            format!(
                "id={id}&span=24h&last=24h&search=&page=0&before=&what=&recount=true&everywhere=false&slug=globex\
                 &partner=globex&partner_id={other}&name=orders&key={key}&key_id={key}&request={request}\
                 &request_id={request}&email=eve%40globex.example&plan=free&suspended=true&off=true&act=revoke&current=not+this\
                 &overlap=0&minutes=1&days=30&routes=&stage=quota&outcome=quota_spent&status=429&upstream=1&generation=1\
                 &path=%2Forders&token=0&password=nine+lives+are+enough&expires=30d&next=&url=&prefix=&tag=&is_new=false\
                 &asked%5Bpartner%5D=globex&asked%5Bkey%5D={key}&wanted%5Bname%5D=orders&wanted%5Bpath%5D=%2Forders&route=orders&kind=tag&target=a"
            )
        })
    }

    /// What a server function answers to all forms that it can read, of which there is at least one.
    async fn ask(&self, function: &str, cookie: &str) -> Vec<Answer> {
        let mut answers = Vec::new();
        for form in self.forms() {
            answers.push(self.portal.call(function, cookie, &form).await);
        }
        // An id of another kind is no form that it can read.
        answers.retain(|answer| !answer.body.contains("The form was incomplete."));
        assert!(!answers.is_empty(), "{function} takes an argument that this test does not send");
        answers
    }

    /// The addresses that a pattern of the router stands for, with what is the other one's in it.
    fn addresses(&self, pattern: &str) -> Vec<String> {
        let mut addresses = vec![pattern.to_owned()];
        for (part, values) in [
            (":token", vec!["0".repeat(64)]),
            (":slug", vec!["globex".to_owned()]),
            (":name", vec!["orders".to_owned()]),
            (":act", ["rename", "rotate", "revoke"].map(str::to_owned).to_vec()),
            (":id", vec![self.key.to_string(), self.request.to_string()]),
        ] {
            addresses = addresses
                .into_iter()
                .flat_map(|address| match address.contains(part) {
                    true => values.iter().map(|value| address.replace(part, value)).collect(),
                    false => vec![address],
                })
                .collect();
        }
        assert!(!addresses[0].contains([':', '*']), "{pattern}: what is to stand for its parameters?");
        addresses
    }

    /// All that is the other partner's, as it stands in the database.
    async fn state(&self) -> String {
        let mut state = String::new();
        for table in [
            "partner where id = $1",
            "api_key where partner_id = $1",
            "person where partner_id = $1",
            "invitation where partner_id = $1",
        ] {
            let select = format!(
                "select coalesce(string_agg(t::text, ' ' order by t::text), '') from (select * from {table}) as t"
            );
            let rows: String = sqlx::query_scalar(AssertSqlSafe(select))
                .bind(self.other)
                .fetch_one(&self.portal.db)
                .await
                .unwrap();
            state.push_str(&rows);
        }
        state
    }
}

fn tells_nothing(what: &str, answer: &Answer) {
    assert!(!answer.body.contains(MARK), "{what} tells what is another partner's: {}", answer.body);
    assert_ne!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{what}: {}", answer.body);
}

async fn acme(db: &PgPool) -> InviteAs {
    InviteAs::Partner(keys::partner_by_slug(db, "acme").await.unwrap())
}

#[tokio::test]
async fn strangers_see_the_door_and_nothing_else() {
    let two = two().await;
    for (pattern, whose) in pages() {
        for address in two.addresses(&pattern) {
            let [form, _] = two.forms();
            let address = format!("{address}?{form}");
            let page = two.portal.page(&address, "").await;
            tells_nothing(&address, &page);
            let is_led_away =
                page.status == StatusCode::FOUND && page.header("location").starts_with("/?next=");
            assert_eq!(is_led_away, whose != Anybody, "{address}: {}", page.status);
        }
    }
    for (function, whose) in functions() {
        if whose != Anybody {
            for answer in two.ask(&function, "").await {
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{function}: {}", answer.body);
            }
        }
    }
}

#[tokio::test]
async fn who_comes_to_a_page_that_is_not_theirs_or_not_there_has_the_way_to_their_own() {
    let two = two().await;
    let bob = two.portal.session("bob@acme.example", acme(&two.portal.db).await).await;
    let (not_theirs, not_there) = (StatusCode::FORBIDDEN, StatusCode::NOT_FOUND);
    for (cookie, address, status, has_the_way) in [
        (bob.as_str(), "/ops", not_theirs, true),
        (bob.as_str(), "/nowhere", not_there, true),
        (bob.as_str(), "/r/00000000-0000-7000-8000-000000000000", not_there, true),
        ("", "/nowhere", not_there, false),
    ] {
        let page = two.portal.page(address, cookie).await;
        assert_eq!(page.status, status, "{address}");
        assert_eq!(page.body.contains("href=\"/portal/keys\""), has_the_way, "{address}: {}", page.body);
        assert!(!page.body.contains("href=\"/ops"), "{address}: {}", page.body);
    }
}

#[tokio::test]
async fn a_partner_gets_and_changes_nothing_of_another_by_any_argument() {
    let two = two().await;
    let bob = two.portal.session("bob@acme.example", acme(&two.portal.db).await).await;
    let before = two.state().await;
    for (pattern, whose) in pages() {
        for address in two.addresses(&pattern) {
            for form in two.forms() {
                let asked = format!("{address}?{form}");
                let sheet = format!("{PREFIX}{asked}");
                let mut answers = vec![(two.portal.page(&sheet, &bob).await, sheet)];
                answers.push((two.portal.page(&asked, &bob).await, asked));
                if takes_forms(&pattern) {
                    // Of a page of several forms, each.
                    for act in ["revoke", "remove", "withdraw", "reset"] {
                        let form = form.replace("act=revoke", &format!("act={act}"));
                        answers.push((
                            two.portal.post(&address, &bob, &form).await,
                            format!("POST {address} {form}"),
                        ));
                    }
                }
                for (answer, asked) in answers {
                    tells_nothing(&asked, &answer);
                    let is_refused = answer.status == StatusCode::FORBIDDEN;
                    // Not every page has a sheet of its numbers.
                    let is_no_sheet = asked.starts_with(PREFIX) && answer.status == StatusCode::NOT_FOUND;
                    assert!(is_refused || is_no_sheet || whose != Ops, "{asked}: {}", answer.status);
                }
            }
        }
    }
    for (function, whose) in functions() {
        // It would end the session that the others are asked with.
        if function == "sign_out" {
            continue;
        }
        for answer in two.ask(&function, &bob).await {
            tells_nothing(&function, &answer);
            let is_refused = matches!(answer.status, StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED);
            assert!(
                is_refused == (whose == Ops) || whose == Anybody,
                "{function}: {} {}",
                answer.status,
                answer.body
            );
        }
    }
    assert_eq!(two.state().await, before);
}

#[tokio::test]
async fn operators_see_everything_but_through_a_partners_eyes() {
    let two = two().await;
    let ada = two.portal.session("ada@example.com", InviteAs::Ops).await;
    for (pattern, whose) in pages() {
        for address in two.addresses(&pattern) {
            let page = two.portal.page(&address, &ada).await;
            // What names nothing may be told before anybody is asked for.
            let is_refused = matches!(page.status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
            assert!(is_refused || whose != Partner, "{address}: {}", page.status);
            assert!(page.status != StatusCode::FORBIDDEN || whose == Partner, "{address}");
            assert_ne!(page.status, StatusCode::INTERNAL_SERVER_ERROR, "{address}");
        }
    }
    let books = two.portal.page("/ops/partners/globex?last=24h", &ada).await;
    assert!(books.body.contains(MARK), "what a partner is not told is there");
    for (function, whose) in functions() {
        if function == "sign_out" {
            continue;
        }
        for answer in two.ask(&function, &ada).await {
            assert_eq!(
                answer.status == StatusCode::FORBIDDEN,
                whose == Partner,
                "{function}: {}",
                answer.status
            );
            assert_ne!(answer.status, StatusCode::INTERNAL_SERVER_ERROR, "{function}: {}", answer.body);
        }
    }
}
