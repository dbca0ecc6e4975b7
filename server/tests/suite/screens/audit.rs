//! `/ops/audit`: the recount on screen, and who changed what.

use app::changes::By;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::people::InviteAs;
use time::{Duration, OffsetDateTime};
use toll::manifest::apply::Options;

use super::text;
use crate::portal::portal;
use crate::support::catalog::declare_with;
use crate::support::traffic::{ended, write};

#[tokio::test]
async fn the_recount_says_that_all_agree_and_where_they_do_not() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let at = OffsetDateTime::now_utc() - Duration::minutes(5);
    write(&portal.db, vec![(at, vec![ended(Stage::Key, Outcome::KeyMissing); 41])]).await;
    let counted = text(&portal.page("/ops/audit", &ada).await);
    assert!(
        counted.contains("Door and rollups agree: of 41 that arrived, none is unaccounted for."),
        "{counted}"
    );
    let all = text(&portal.page("/ops/audit?recount=on", &ada).await);
    assert!(all.contains("Door, rollups and log agree on all 41 requests."), "{all}");

    sqlx::query("delete from request_log where id = (select id from request_log limit 1)")
        .execute(&portal.db)
        .await
        .unwrap();
    let differs = text(&portal.page("/ops/audit?recount=on", &ada).await);
    assert!(differs.contains("do not agree"), "{differs}");
    let minute = format!("{:02}:{:02}:00", at.hour(), at.minute());
    assert!(differs.contains(&minute) && differs.contains("log 40"), "{differs}");
}

#[tokio::test]
async fn changes_are_shown_with_before_and_after_by_kind_and_by_the_page() {
    let portal = portal("http://toll.example").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let options = Options { by: By("toll apply"), ..Options::default() };
    let plan = |capacity: usize| {
        format!("[[plan]]\nname = \"free\"\ncapacity = {capacity}\nrefill_per_second = 1.0\n")
    };
    for capacity in 1..=60 {
        declare_with(&portal.db, &plan(capacity), options).await;
    }
    let page = portal.page("/ops/audit?what=plan", &ada).await;
    let newest = text(&page);
    assert!(newest.contains("toll apply plan free capacity 59 → 60"), "{newest}");
    assert!(!newest.contains("invitation ada@example.com"), "another kind");
    assert_eq!(page.body.matches("<tr id=\"change-").count(), 50);
    let older = page.body.split("before=").nth(1).unwrap().split('"').next().unwrap();
    let last = portal.page(&format!("/ops/audit?what=plan&before={older}"), &ada).await;
    assert_eq!(last.body.matches("<tr id=\"change-").count(), 10);
    assert!(portal.page("/ops/audit", &ada).await.body.contains("ada@example.com"));
}
