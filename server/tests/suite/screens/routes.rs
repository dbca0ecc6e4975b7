//! `/ops/routes`: making, changing and switching routes.

use std::time::Duration;

use app::changes::{What, list};
use app::people::InviteAs;
use http::StatusCode;
use http::header::LOCATION;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::text;
use crate::portal::{on, portal};
use crate::support::catalog::declare;
use crate::support::client::{Reply, client};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway};

const UPSTREAM: &str = "[[upstream]]\nname = \"orders\"\nurls = [\"http://127.0.0.1:9\"]\n";
const FORM: &str =
    "name=orders&path=%2Forders&upstream=orders&access=public&body_limit=1MiB&cache_ttl=0s&strip=true";

#[tokio::test]
async fn a_route_is_made_and_changed_by_the_rules_of_the_file() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    declare(&portal.db, UPSTREAM).await;
    let made = portal.post("/ops/routes/new", &ada, FORM).await;
    assert_eq!(
        (made.status, made.header(LOCATION.as_str())),
        (StatusCode::FOUND, "/ops/routes"),
        "{}",
        made.body
    );

    for (form, told) in [
        (FORM.to_owned(), "there is a route \"orders\" already"),
        (FORM.replace("name=orders", "name=b"), "is already the path of route \"orders\"Name"),
        (
            FORM.replace("%2Forders", "orders").replace("name=orders", "name=b"),
            "it does not begin with \"/\"",
        ),
        (
            FORM.replace("1MiB", "much").replace("name=orders", "name=b").replace("%2Forders", "%2Fb"),
            "Largest body: \"much\" is no size",
        ),
        (FORM.replace("0s", "soon").replace("name=orders", "name=b"), "Fresh for: \"soon\" is no duration"),
        (FORM.replace("name=orders", "name=b").replace("%2Forders", "a"), "Path: \"a\" is no route's path"),
    ] {
        let refused = portal.post("/ops/routes/new", &ada, &form).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(text(&refused).contains(told), "{told}: {}", text(&refused));
        assert!(!text(&refused).contains("cache_ttl:"), "a key of the file: {}", text(&refused));
        assert!(refused.body.contains("value=\"public\" selected"), "what was chosen is still there");
    }

    let generation = || async {
        sqlx::query_scalar::<_, i64>("select generation from route where name = 'orders'")
            .fetch_one(&portal.db)
            .await
            .unwrap()
    };
    let before = generation().await;
    let cached = format!("{FORM}&cache=true&methods=GET%2C+HEAD");
    assert_eq!(portal.post("/ops/routes/orders", &ada, &cached).await.status, StatusCode::FOUND);
    assert!(generation().await > before, "what was stored of it is forgotten");
    let [change, ..] = &list(&portal.db, Some(What::Route), None, 9).await.unwrap()[..] else { panic!() };
    assert_eq!(change.who, "ada@example.com");
    assert_eq!(change.before, Some(json!({ "cache": false })));
    assert_eq!(change.after, Some(json!({ "cache": true, "methods": ["GET", "HEAD"] })));
    let form = portal.page("/ops/routes/orders", &ada).await;
    assert!(form.body.contains("value=\"GET, HEAD\""), "{}", form.body);
    assert_eq!(portal.page("/ops/routes/none", &ada).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_route_that_is_switched_off_answers_so_on_a_running_node_without_a_restart() {
    let gateway = TestGateway::on(TestDatabase::new().await, &Options::default()).await;
    let portal = on(gateway.db.pool.clone(), "http://toll.example");
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    declare(&portal.db, UPSTREAM).await;
    portal.post("/ops/routes/new", &ada, FORM).await;
    let client = client();
    let outcome = || async { Reply::of(client.get(gateway.url("/api/orders"))).await.outcome().to_owned() };
    let until = async |is: &dyn Fn(&str) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let outcome = outcome().await;
            if is(&outcome) {
                break;
            }
            assert!(Instant::now() < deadline, "{outcome}");
            sleep(Duration::from_millis(20)).await;
        }
    };
    until(&|outcome| outcome != "no_route").await;
    assert_eq!(portal.call("switch_route", &ada, "name=orders&off=true").await.status, StatusCode::OK);
    until(&|outcome| outcome == "route_off").await;
    assert!(text(&portal.page("/ops/routes", &ada).await).contains("Switch on"));
    portal.call("switch_route", &ada, "name=orders&off=false").await;
    until(&|outcome| outcome != "route_off").await;
}
