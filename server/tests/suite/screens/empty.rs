//! Pages without anything to show, and what a page promises without scripts.

use app::people::InviteAs;
use uuid::Uuid;

use crate::portal::{Answer, portal};
use crate::support::traffic::catalog;

/// Each element that is there for pages with scripts, by its text.
fn promised(page: &Answer) -> Vec<String> {
    let parts = page.body.split("with-scripts").skip(1);
    parts.map(|part| part.split_once('>').map_or("", |(_, text)| text).to_owned()).collect()
}

#[tokio::test]
async fn what_a_page_does_by_itself_it_promises_only_where_scripts_run() {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    let fresh = format!("/r/{}", Uuid::now_v7());
    for (page, cookie, promises) in [
        ("/ops", &ada, 2),
        ("/ops?live=off", &ada, 2),
        ("/ops/requests", &ada, 1),
        ("/ops/latency", &ada, 1),
        ("/ops/partners/acme", &ada, 1),
        ("/portal", &bob, 2),
        ("/portal/requests", &bob, 1),
        (fresh.as_str(), &bob, 1),
    ] {
        let shown = portal.page(page, cookie).await;
        let (promised, instead) = (promised(&shown), shown.body.matches("without-scripts").count());
        assert_eq!((promised.len(), instead), (promises, promises), "{page}: {}", shown.body);
        let others = shown.body.matches("by itself").count();
        let told = promised.iter().filter(|text| text.split("</p>").next().unwrap().contains("by itself"));
        assert_eq!(told.count(), others, "{page}: {promised:?}");
    }
}
