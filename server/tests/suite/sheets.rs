//! The numbers of a page as a file: the same numbers, for the same people, harmless to open.

use app::books::{Filter, funnel};
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Window;
use app::people::InviteAs;
use http::StatusCode;
use time::{Duration, OffsetDateTime};

use crate::portal::{Portal, portal};
use crate::support::traffic::{Catalog, catalog, ended, write};

/// Some requests of both partners in the last hour; one path is a formula.
async fn busy() -> (Portal, Catalog) {
    let portal = portal("http://toll.example").await;
    let catalog = catalog(&portal.db).await;
    let now = OffsetDateTime::now_utc();
    let of = |partner: usize, stage, outcome, path: &str| {
        let mut record = ended(stage, outcome);
        (record.partner, record.route) = (catalog.partners[partner], catalog.routes[0]);
        record.key = catalog.keys[partner];
        record.path = path.into();
        record
    };
    let records = vec![
        of(0, Stage::Quota, Outcome::QuotaSpent, "=cmd|' /C calc'!A0"),
        of(0, Stage::Proxy, Outcome::Forwarded, "/api/orders/1,2"),
        of(1, Stage::Quota, Outcome::QuotaSpent, "/api/secret-of-globex"),
    ];
    write(&portal.db, vec![(now - Duration::MINUTE, records)]).await;
    (portal, catalog)
}

#[tokio::test]
async fn a_file_holds_what_the_page_shows_with_its_filters_in_the_head() {
    let (portal, _) = busy().await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let list = portal.page("/csv/ops/requests?last=1h&stage=quota&partner=acme", &ada).await;
    assert_eq!(list.status, StatusCode::OK);
    assert_eq!(list.header("content-type"), "text/csv; charset=utf-8");
    assert!(list.header("content-disposition").starts_with("attachment; filename=\"toll-ops-requests-20"));
    let mut lines = list.body.split("\r\n");
    assert!(lines.next().unwrap().starts_with("from,20"));
    assert!(lines.next().unwrap().starts_with("to,20"));
    assert_eq!(
        (lines.next(), lines.next(), lines.next()),
        (Some("stage,quota"), Some("partner,acme"), Some(""))
    );
    assert!(lines.next().unwrap().starts_with("arrived,id,method,path,"));
    let row = lines.next().unwrap();
    assert!(row.contains(",GET,'=cmd|' /C calc'!A0,orders,acme,quota,quota_spent,429,"), "{row}");
    assert_eq!((lines.next(), lines.next()), (Some(""), None));

    let books = portal.page("/csv/ops?last=1h", &ada).await.body;
    let funnel =
        funnel(&portal.db, Window::last(Duration::HOUR, OffsetDateTime::now_utc()), &Filter::default())
            .await
            .unwrap();
    let quota = funnel.stage(Stage::Quota).stopped;
    for line in [
        "arrived,,3",
        &format!("stopped at quota,,{quota}"),
        "ended at quota,quota_spent,2",
        "unaccounted,,0",
    ] {
        assert!(books.split("\r\n").any(|found| found == line), "{line} in\n{books}");
    }
}

#[tokio::test]
async fn a_file_is_for_those_who_may_see_its_page() {
    let (portal, catalog) = busy().await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    for page in [
        "/ops",
        "/ops/partners",
        "/ops/partners/acme",
        "/ops/routes",
        "/ops/requests",
        "/ops/upstreams",
        "/ops/cache",
        "/ops/latency",
        "/ops/audit",
    ] {
        let path = &format!("/csv{page}");
        assert!(portal.page(page, &ada).await.body.contains(&format!("href=\"{path}?")), "{page} offers it");
        let stranger = portal.page(path, "").await;
        assert_eq!(stranger.status, StatusCode::FOUND, "{path}");
        assert!(stranger.header("location").starts_with("/?next=%2Fcsv%2Fops"));
        assert_eq!(portal.page(path, &bob).await.status, StatusCode::FORBIDDEN, "{path}");
        assert_eq!(portal.page(path, &ada).await.status, StatusCode::OK, "{path}");
    }
    for path in ["/csv/portal", "/csv/portal/requests?partner=globex", "/csv/portal/requests?stage=quota"] {
        let own = portal.page(path, &bob).await;
        assert_eq!(own.status, StatusCode::OK, "{path}");
        assert!(!own.body.contains("globex"), "{path}, and its head says so: {}", own.body);
        assert_eq!(portal.page(path, &ada).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    assert_eq!(portal.page("/csv/nothing", &ada).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn partners_routes_and_changes_are_a_line_each_and_a_partners_file_names_it() {
    let (portal, _) = busy().await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let has = |body: &str, line: &str| body.split("\r\n").any(|found| found == line);
    let partners = portal.page("/csv/ops/partners?last=1h&search=acm", &ada).await.body;
    assert!(has(&partners, "search,acm"), "{partners}");
    assert!(partners.contains("\r\nacme,") && !partners.contains("\r\nglobex,"), "{partners}");
    // Arrived, then by stage, then reached.
    assert!(partners.contains(",2,0,0,1,0,0,0,1\r\n"), "{partners}");

    let one = portal.page("/csv/ops/partners/acme?last=1h", &ada).await.body;
    assert!(has(&one, "partner,acme") && has(&one, "arrived,,2"), "{one}");
    assert_eq!(portal.page("/csv/ops/partners/nobody", &ada).await.status, StatusCode::NOT_FOUND);

    let routes = portal.page("/csv/ops/routes?last=1h", &ada).await.body;
    assert!(
        routes.contains("\r\norders,/api/orders,") && routes.contains(",no,3,0,0,2,0,0,0,1,"),
        "{routes}"
    );

    let audit = portal.page("/csv/ops/audit?last=1h&what=invitation&recount=on", &ada).await.body;
    assert!(has(&audit, "what,invitation") && has(&audit, "recount,on"), "{audit}");
    assert!(has(&audit, "Arrived at the door,3") && has(&audit, "Unaccounted,0"), "{audit}");
    assert!(audit.contains(",test,invitation,ada@example.com,"), "{audit}");
}

/// A parameter of a file, written wrong, and what is said of it.
type Wrong = (&'static str, &'static str);

const WRONG_WINDOWS: [Wrong; 11] = [
    ("last=nonsense", "\"nonsense\" is no span of time"),
    ("last=0m", "\"0m\" is no span of time"),
    ("last=-1h", "\"-1h\" is no span of time"),
    ("last=99999999d", "\"99999999d\" is no span of time"),
    ("from=2026-01-02T00:00Z&to=2026-01-01T00:00Z", "From is not before to"),
    ("from=2026-01-01T00:00Z&to=2026-01-01T00:00Z", "From is not before to"),
    ("from=2026-01-01T00:00Z", "A window has both from and to, and to is missing."),
    ("to=2026-01-01T00:00Z", "A window has both from and to, and from is missing."),
    ("from=yesterday&to=2026-01-01T00:00Z", "\"yesterday\" is no time"),
    ("from=2026-01-01T00:00Z&to=2026-02-30T00:00Z", "\"2026-02-30T00:00Z\" is no time"),
    ("last=1h&from=2026-01-01T00:00Z", "and to is missing"),
];

const WRONG_REQUESTS: [Wrong; 9] = [
    ("stage=nonsense", "No stage is called \"nonsense\"."),
    ("outcome=nonsense", "No outcome is called \"nonsense\"."),
    ("status=42", "\"42\" is no status"),
    ("status=6xx", "\"6xx\" is no status"),
    ("answer=7xx", "\"7xx\" is no answer"),
    ("latency=17", "No latency bucket ends at \"17\" ms"),
    ("route=nonsense", "There is no route \"nonsense\"."),
    ("key=nonsense", "There is no key \"nonsense\"."),
    ("before=nonsense", "This link to older requests is broken."),
];

#[tokio::test]
async fn no_file_is_of_anything_else_than_what_its_address_asks_for() {
    let (portal, catalog) = busy().await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(catalog.partners[0])).await;
    let files: [(&str, &str, &[Wrong]); 12] = [
        ("/ops", &ada, &[]),
        ("/ops/partners", &ada, &[]),
        ("/ops/partners/acme", &ada, &[]),
        ("/ops/routes", &ada, &[]),
        ("/ops/requests", &ada, &WRONG_REQUESTS),
        ("/ops/requests", &ada, &[("partner=nonsense", "There is no partner \"nonsense\".")]),
        ("/ops/upstreams", &ada, &[]),
        ("/ops/cache", &ada, &[]),
        ("/ops/latency", &ada, &[("route=nonsense", "There is no route \"nonsense\".")]),
        (
            "/ops/audit",
            &ada,
            &[
                ("what=nonsense", "Nothing is called \"nonsense\"."),
                ("recount=nonsense", "A recount is on or left out, not \"nonsense\"."),
            ],
        ),
        ("/portal", &bob, &[]),
        ("/portal/requests", &bob, &WRONG_REQUESTS),
    ];
    for (page, cookie, filters) in files {
        for (query, told) in WRONG_WINDOWS.iter().chain(filters) {
            let path = format!("/csv{page}?{query}");
            let answer = portal.page(&path, cookie).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path}: {}", answer.body);
            assert!(
                answer.body.contains(told) && answer.body.lines().count() == 1,
                "{path}: {}",
                answer.body
            );
            assert!(answer.header("content-type").starts_with("text/plain"), "{path}");
            assert!(!answer.headers.contains_key("content-disposition"), "{path}");
            let stranger = portal.page(&path, "").await.status;
            assert_eq!(stranger, StatusCode::FOUND, "{path}: who asks comes first");
        }
    }
}
