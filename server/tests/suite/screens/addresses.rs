//! Addresses and forms that nobody would write who means well. What comes from outside is never Toll's own failure.

use app::people::InviteAs;
use http::StatusCode;
use leptos::server_fn::axum::server_fn_paths;

use super::roles::rules::pages;
use super::text;
use crate::people::partner;
use crate::portal::{Portal, portal};

const PARAMETERS: [&str; 19] = [
    "after", "answer", "before", "from", "key", "last", "latency", "next", "outcome", "page", "partner",
    "recount", "route", "search", "stage", "status", "to", "upstream", "what",
];
const VALUES: [&str; 9] = [
    "%00",
    "a%00b",
    "%FF%FE",
    "99999999999999999999",
    "-1",
    "%27%3B--",
    "%E2%80%AE",
    "9999-12-31T23:59Z",
    "",
];

/// Pages with each parameter filled in by the value.
fn paths(value: &str) -> Vec<String> {
    let filled = |page: &String| {
        let parts = page.split('/').map(|part| if part.starts_with(':') { value } else { part });
        parts.collect::<Vec<_>>().join("/")
    };
    pages().keys().map(filled).collect()
}

async fn people(portal: &Portal) -> [String; 3] {
    let acme = partner(&portal.db, "acme").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    [ada, portal.session("bob@acme.example", InviteAs::Partner(acme)).await, String::new()]
}

#[tokio::test]
async fn no_address_makes_a_page_fail() {
    let portal = portal("http://toll.example").await;
    for cookie in people(&portal).await {
        for value in VALUES {
            let all = PARAMETERS.map(|name| format!("{name}={value}"));
            for path in paths(value) {
                // Alone, as one that is refused keeps others from being read.
                let is_read = !cookie.is_empty() && (value.is_empty() || !path.contains(value));
                for query in all.iter().filter(|_| is_read) {
                    for path in [format!("{path}?{query}"), format!("/csv{path}?{query}")] {
                        let answer = portal.page(&path, &cookie).await;
                        assert!(
                            !answer.status.is_server_error(),
                            "{path}: {} {}",
                            answer.status,
                            answer.body
                        );
                    }
                }
                let answer = portal.page(&path, &cookie).await;
                assert!(!answer.status.is_server_error(), "{path}: {} {}", answer.status, answer.body);
            }
        }
    }
}

#[tokio::test]
async fn no_window_makes_a_page_fail() {
    let portal = portal("http://toll.example").await;
    let [ada, bob, _] = people(&portal).await;
    let times = [
        "0000-01-01T00:00Z",
        "1970-01-01T00:00Z",
        "2026-12-01T00:00Z",
        "2199-12-31T23:59Z",
        "9999-12-31T23:59Z",
    ];
    for (page, cookie) in [
        ("/ops", &ada),
        ("/ops/partners", &ada),
        ("/ops/partners/acme", &ada),
        ("/ops/routes", &ada),
        ("/ops/upstreams", &ada),
        ("/ops/cache", &ada),
        ("/ops/latency", &ada),
        ("/ops/requests", &ada),
        ("/ops/audit", &ada),
        ("/portal", &bob),
        ("/portal/requests", &bob),
    ] {
        for from in times {
            for to in times {
                let path = format!("{page}?from={from}&to={to}");
                let answer = portal.page(&path, cookie).await;
                assert_eq!(answer.status, StatusCode::OK, "{path} {}", answer.body);
                let sheet = portal.page(&format!("/csv{path}"), cookie).await;
                assert!(!sheet.status.is_server_error(), "{path} {}", sheet.body);
            }
        }
    }
}

#[tokio::test]
async fn no_form_makes_a_page_or_a_function_fail() {
    let portal = portal("http://toll.example").await;
    let fields = [
        "act",
        "current",
        "days",
        "email",
        "generation",
        "id",
        "key",
        "minutes",
        "name",
        "next",
        "overlap",
        "partner",
        "password",
        "path",
        "plan",
        "prefix",
        "routes",
        "slug",
        "span",
        "tag",
        "target",
        "token",
        "upstream",
        "url",
        "wanted%5Bname%5D",
    ];
    for cookie in people(&portal).await {
        for value in VALUES {
            let form = fields.map(|name| format!("{name}={value}")).join("&");
            for page in pages()
                .keys()
                .map(|page| page.replace(":id", "1").replace(":act", "rotate").replace(":slug", "acme"))
            {
                let answer = portal.post(&page, &cookie, &form).await;
                assert!(!answer.status.is_server_error(), "{page} {form}: {} {}", answer.status, answer.body);
            }
            for function in server_fn_paths().map(|(path, _)| path) {
                let name = function.trim_start_matches("/_fn/");
                let answer = portal.call(name, &cookie, &form).await;
                assert!(!answer.status.is_server_error(), "{name} {form}: {} {}", answer.status, answer.body);
            }
        }
    }
}

/// What a form without scripts was answered comes by way of the address, which anybody can write.
#[tokio::test]
async fn an_address_puts_no_words_into_tolls_mouth() {
    let portal = portal("http://toll.example").await;
    let [ada, ..] = people(&portal).await;
    // {"Invalid":"Call 555 now"}
    let error = "eyJJbnZhbGlkIjoiQ2FsbCA1NTUgbm93In0%3D";
    for (page, function) in [
        ("/ops/upstreams", "open_breaker"),
        ("/ops/upstreams", "close_breaker"),
        ("/ops/routes", "switch_route"),
    ] {
        let path = format!("{page}?__path=%2F_fn%2F{function}&__err={error}");
        let page = text(&portal.page(&path, &ada).await);
        assert!(page.contains("That was not done: "), "{page}");
        assert!(!page.contains("555"), "{page}");
    }
}
