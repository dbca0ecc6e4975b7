//! The route stage through real sockets: which route answers, what its upstream gets, and how a change takes its place.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;

use crate::support::catalog::declare;
use crate::support::client::{client, get};
use crate::support::database::TestDatabase;
use crate::support::gateway::{Options, TestGateway};
use crate::support::load::Load;
use crate::support::origin::Origin;
use crate::support::raw::{RawClient, ask, request};
use crate::support::toll::PATIENCE;

/// Public routes, as TOML tables without their `access`, to upstreams of their own.
fn catalog(routes: &[(&str, &Origin, &str)]) -> String {
    let table = |(n, (path, origin, more)): (usize, &(&str, &Origin, &str))| {
        format!(
            "[[upstream]]\nname = \"u{n}\"\nurls = [\"{}\"]\n\
             [[route]]\nname = \"r{n}\"\npath = \"{path}\"\nupstream = \"u{n}\"\naccess = \"public\"\n{more}\n",
            origin.url()
        )
    };
    routes.iter().enumerate().map(table).collect()
}

async fn gateway(routes: &[(&str, &Origin, &str)]) -> TestGateway {
    let db = TestDatabase::new().await;
    declare(&db.pool, &catalog(routes)).await;
    TestGateway::on(db, &Options::default()).await
}

/// What came to the upstream, path and query.
fn targets(origin: &Origin) -> Vec<String> {
    origin.seen().into_iter().map(|seen| seen.target).collect()
}

async fn ask_for(toll: &TestGateway, method: &str, target: &str) -> (u16, String) {
    let reply = ask(toll.address(), request(method, target, &[])).await;
    (reply.status, reply.outcome().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_path_answers_and_only_at_segment_borders() {
    let (short, long) = (Origin::ok().await, Origin::ok().await);
    let toll = gateway(&[("/shop", &short, ""), ("/shop/old", &long, "")]).await;
    for target in ["/api/shop", "/api/shop/", "/api/shop/older", "/api/shop/new/old", "/api/shop//old"] {
        assert_eq!(ask_for(&toll, "GET", target).await.0, 200, "{target}");
    }
    for target in ["/api/shop/old", "/api/shop/old/", "/api/shop/old/7?q=/shop"] {
        assert_eq!(ask_for(&toll, "GET", target).await.0, 200, "{target}");
    }
    // An encoded slash is no border, an encoded letter no letter of a path.
    for target in ["/api/shopping", "/api/shop%2Fold", "/api/sh%6Fp", "/api/SHOP", "/api//shop", "/api"] {
        assert_eq!(ask_for(&toll, "GET", target).await, (404, "no_route".into()), "{target}");
    }
    assert_eq!(targets(&short), ["/", "/", "/older", "/new/old", "//old"]);
    assert_eq!(targets(&long), ["/", "/", "/7?q=/shop"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_is_stripped_of_the_routes_or_only_of_api_and_the_rest_is_sent_byte_for_byte() {
    let (strips, keeps) = (Origin::ok().await, Origin::ok().await);
    let toll = gateway(&[("/a", &strips, ""), ("/b/c", &keeps, "strip = false")]).await;
    let rests = [
        "",
        "/",
        "//x/",
        "/a%2Fb%2fc",
        "/caf%C3%A9",
        "/'{}|^",
        "/x;v=1/y",
        "/?b=2&a=%20+1&a",
        "/%E2%82%AC?",
        "?q='{}'",
    ];
    for rest in rests {
        for path in ["/api/a", "/api/b/c"] {
            let target = format!("{path}{rest}");
            assert_eq!(ask_for(&toll, "GET", &target).await.0, 200, "{target}");
        }
    }
    let stripped = rests.map(|rest| if rest.starts_with('/') { rest.into() } else { format!("/{rest}") });
    assert_eq!(targets(&strips), stripped);
    assert_eq!(targets(&keeps), rests.map(|rest| format!("/b/c{rest}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_takes_the_methods_that_it_names_and_without_names_all() {
    let (some, all) = (Origin::ok().await, Origin::ok().await);
    let toll = gateway(&[("/some", &some, "methods = [\"GET\", \"POST\"]"), ("/all", &all, "")]).await;
    for (method, status) in
        [("GET", 200), ("POST", 200), ("HEAD", 405), ("PUT", 405), ("get", 405), ("PURGE", 405)]
    {
        let mut client = RawClient::connect(toll.address()).await;
        client.send(request(method, "/api/some", &[])).await;
        let head = client.head().await;
        assert_eq!(head.status, status, "{method}");
        assert_eq!(head.header("allow"), if status == 405 { "GET, POST" } else { "" });
    }
    for method in ["GET", "DELETE", "PATCH", "PURGE", "M-SEARCH"] {
        assert_eq!(ask_for(&toll, method, "/api/all").await, (200, "forwarded".into()), "{method}");
    }
    let seen: Vec<String> = all.seen().iter().map(|seen| seen.method.to_string()).collect();
    assert_eq!(seen, ["GET", "DELETE", "PATCH", "PURGE", "M-SEARCH"]);
    assert_eq!(some.count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_at_the_limit_is_taken_and_one_byte_more_is_refused_before_it_is_sent() {
    let origin = Origin::ok().await;
    let toll =
        gateway(&[("/up", &origin, "body_limit = \"100B\""), ("/free", &origin, "body_limit = \"none\"")])
            .await;
    let body = "x".repeat(200);
    for (path, length, expected) in [("/api/up", 100, 200), ("/api/up", 101, 413), ("/api/free", 200, 200)] {
        let head = request("POST", path, &[("Content-Length", &length.to_string())]);
        let body = if expected == 413 { "" } else { &body[..length] };
        assert_eq!(ask(toll.address(), head + body).await.status, expected, "{length}");
    }
    let lengths: Vec<usize> = origin.seen().iter().map(|seen| seen.body.len()).collect();
    assert_eq!(lengths, [100, 200]);
}

#[tokio::test(flavor = "multi_thread")]
async fn dot_segments_backslashes_and_what_is_no_visible_ascii_never_reach_an_upstream() {
    let origin = Origin::ok().await;
    let toll = gateway(&[("/files", &origin, "")]).await;
    for rest in [
        "/..",
        "/../",
        "/../x",
        "/a/../x",
        "/./x",
        "/a/.",
        "/%2e%2e/x",
        "/%2E./x",
        "/.%2e/x",
        "/%2e/x",
        "/..%2fx",
        "/a%2f..%2fx",
        "/%252e%252e/x",
        "/%25252e%25252e/x",
        "/..;v=1/x",
        "/%2e%2e%3bv=1/x",
        "/a\\..\\x",
        "/a%5c..%5cx",
        "/a%5Cx",
        "/a%255cx",
        "/a%00",
        "/a%0d%0aX-Y:z",
        "/a%7f",
        "/a%0",
    ] {
        let target = format!("/api/files{rest}");
        // The last one is taken: half an escape is no escape.
        let expected = if rest == "/a%0" { (200, "forwarded") } else { (400, "bad_path") };
        let (status, outcome) = ask_for(&toll, "GET", &target).await;
        assert_eq!((status, outcome.as_str()), expected, "{target}");
    }
    // These do not even make a request for the parser, or do: no upstream gets them either way.
    for bytes in [&b"/caf\xc3\xa9"[..], b"/\xff", b"/a\x7f"] {
        let target =
            [b"GET /api/files", bytes, b" HTTP/1.1\r\nHost: toll.test\r\nConnection: close\r\n\r\n"].concat();
        let mut client = RawClient::connect(toll.address()).await;
        client.send(target).await;
        assert_eq!(client.head().await.status, 400);
    }
    assert_eq!(targets(&origin), ["/a%0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_is_switched_off_and_on_again_while_the_gateway_runs() {
    let origin = Origin::ok().await;
    let toll = gateway(&[("/shop", &origin, "")]).await;
    for (more, expected) in [("off = true", (503, "route_off")), ("off = false", (200, "forwarded"))] {
        declare(&toll.db.pool, &catalog(&[("/shop", &origin, more)])).await;
        toll.settled().await;
        let (status, outcome) = ask_for(&toll, "GET", "/api/shop").await;
        assert_eq!((status, outcome.as_str()), expected);
    }
}

const CHANGES: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_in_force_within_a_second_and_drops_no_request_that_is_under_way() {
    let named = |name: &'static str| {
        Origin::start(move |_| async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Response::new(Body::from(name))
        })
    };
    let origins = [named("first").await, named("second").await];
    let toll = gateway(&[("/shop", &origins[0], "")]).await;
    let url = toll.url("/api/shop");
    let load = Load::start(16, &url, "");
    load.until_answered(200).await;
    let client = client();
    let mut took = Vec::new();
    for change in 1..=CHANGES {
        declare(&toll.db.pool, &catalog(&[("/shop", &origins[change % 2], "")])).await;
        let (began, wanted) = (Instant::now(), ["first", "second"][change % 2]);
        while get(&client, &url, "").await.body != wanted {
            assert!(began.elapsed() < PATIENCE, "change {change} is not in force");
        }
        took.push(began.elapsed());
        let answered = load.answered();
        load.until_answered(answered + 50).await;
    }
    let replies = load.stop().await;
    let dropped =
        replies.iter().filter(|reply| (reply.status, reply.outcome()) != (200, "forwarded")).count();
    assert_eq!(dropped, 0, "of {} under load", replies.len());
    // The machine may be busy with other things at times, but not each time.
    took.sort();
    assert!(took[CHANGES / 2] < Duration::from_secs(1), "{took:?}");
}
