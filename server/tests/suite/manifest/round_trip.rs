//! Whatever can be declared comes back from the database as it was.

use std::collections::BTreeMap;

use app::domain::title;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, TestRunner};
use toll::manifest::apply::{Options, apply};
use toll::manifest::export::{export, to_toml};
use toll::manifest::{Access, Breaker, Manifest, Partner, Plan, Route, TlsFiles, Upstream, file};

use crate::support::catalog::{SAMPLE, declare};
use crate::support::database::TestDatabase;

fn name() -> impl Strategy<Value = String> {
    "[a-z0-9_-]{1,4}"
}

fn upstream() -> impl Strategy<Value = Upstream> {
    let url =
        "(https?|h2c)://([a-z]{1,8}|127\\.0\\.0\\.1|\\[::1\\])(:[1-9][0-9]{0,3})?(/[a-z0-9~'()]{1,5}){0,2}";
    let file = "[^\\p{Cc}]{1,8}";
    let header = "X-[A-Z][a-z]{1,5}";
    let value = "(\\$\\{[A-Z_]{1,5}\\}|[!-#%-~]{1,5})( [!-~&&[^$]]{1,5}|\\$\\{[a-z]\\}){0,2}";
    let breaker = (1i32..1000, 1i64..100_000_000, 1i64..100_000_000, 1i32..i32::MAX).prop_map(
        |(failures, window_ms, open_ms, max_in_flight)| Breaker {
            failures,
            window_ms,
            open_ms,
            max_in_flight,
        },
    );
    (
        btree_set(url, 1..4),
        1i64..31_536_000_000,
        1i64..100_000,
        option::of("(/[!-\"$-~]{0,4}){1,3}"),
        btree_map(header, value, 0..3),
        (option::of(file), option::of((file, file))),
        prop_oneof![Just(Breaker::default()), breaker],
    )
        .prop_map(|(urls, connect_timeout_ms, timeout_ms, health, headers, (ca, pair), breaker)| {
            let urls: Vec<String> = urls.into_iter().rev().collect();
            let (cert, key) = pair.unzip();
            let tls = TlsFiles { ca, cert, key };
            // Of no use to urls that are called in the clear.
            let tls =
                if urls.iter().any(|url| url.starts_with("https:")) { tls } else { TlsFiles::default() };
            Upstream { urls, connect_timeout_ms, timeout_ms, health, headers, tls, breaker }
        })
}

fn plan(routes: Vec<String>) -> impl Strategy<Value = Plan> {
    let refill = prop_oneof![Just(0.0), Just(1.0), 0.0..1e12f64, Just(f64::MIN_POSITIVE), Just(f64::MAX)];
    let all = routes.len();
    (
        0..=i32::MAX,
        refill,
        prop_oneof![Just(10), 0..=i32::MAX],
        option::of(subsequence(routes, 0..=all)),
        any::<bool>(),
    )
        .prop_map(|(capacity, refill_per_second, max_keys, routes, sign_up)| Plan {
            capacity,
            refill_per_second,
            max_keys,
            routes,
            sign_up,
        })
}

fn route(upstreams: Vec<String>) -> impl Strategy<Value = Route> {
    let methods = subsequence(vec!["DELETE", "GET", "HEAD", "M-SEARCH", "POST", "PUT"], 1..=6);
    let texts = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let cors =
        subsequence(vec!["*", "http://[::1]:8", "http://localhost:3000", "https://shop.example"], 0..=4);
    let flags = any::<(bool, bool, bool, bool, bool)>();
    let limit = prop_oneof![Just(Some(1 << 20)), Just(None), (0..=i64::MAX).prop_map(Some)];
    let ttl = prop_oneof![Just(0), 0i64..31_536_000_000];
    let is_plain = |path: &String| !path.split('/').any(|segment| segment.eq_ignore_ascii_case("%2e"));
    let segments = "(/[a-zA-Z0-9_~'{}*:@%=+,;-]{1,4}){1,3}".prop_filter("a dot segment", is_plain);
    let path = prop_oneof![3 => segments, 1 => Just("/".to_owned())];
    (path, select(upstreams), option::of(methods.prop_map(texts)), cors.prop_map(texts), flags, limit, ttl)
        .prop_map(
            |(
                path,
                upstream,
                methods,
                cors,
                (strip, public, identity, cache, off),
                body_limit,
                cache_ttl_ms,
            )| Route {
                path,
                upstream,
                strip,
                methods,
                access: if public { Access::Public } else { Access::Key },
                body_limit,
                identity,
                cache,
                cache_ttl_ms,
                cors,
                off,
            },
        )
}

fn partner(plans: Vec<String>) -> impl Strategy<Value = Partner> {
    let title = "[^\\p{Cc} ][^\\p{Cc}]{0,20}";
    let title = title.prop_filter("a name that misleads", |name| title::fits(name));
    (title, select(plans), any::<bool>()).prop_map(|(name, plan, suspended)| Partner {
        name,
        plan,
        suspended,
    })
}

/// By name, and no path twice.
fn routes(list: Vec<(String, Route)>) -> BTreeMap<String, Route> {
    let mut paths = std::collections::BTreeSet::new();
    list.into_iter().filter(|(_, route)| paths.insert(route.path.clone())).collect()
}

fn manifest() -> impl Strategy<Value = Manifest> {
    let upstreams = btree_map(name(), upstream(), 1..4);
    upstreams
        .prop_flat_map(|upstreams| {
            let names: Vec<_> = upstreams.keys().cloned().collect();
            (Just(upstreams), vec((name(), route(names)), 0..6).prop_map(routes))
        })
        .prop_flat_map(|(upstreams, routes)| {
            let names: Vec<_> = routes.keys().cloned().collect();
            (Just(upstreams), Just(routes), btree_map(name(), plan(names), 1..4))
        })
        .prop_flat_map(|(upstreams, routes, plans)| {
            let names: Vec<_> = plans.keys().cloned().collect();
            (Just(upstreams), Just(routes), Just(plans), btree_map(name(), partner(names), 0..4))
        })
        .prop_map(|(upstreams, routes, plans, partners)| Manifest { upstreams, plans, routes, partners })
}

/// From each catalog to the next one, whatever they have in common: names, paths, users of what goes away.
#[test]
fn any_manifest_that_is_applied_and_exported_is_the_same_and_applied_again_changes_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let db = runtime.block_on(TestDatabase::new());
    let prune = Options { prune: true, ..Options::default() };
    let mut runner = TestRunner::new(Config { cases: 100, failure_persistence: None, ..Config::default() });
    runner
        .run(&manifest(), |manifest| {
            let text = to_toml(&manifest);
            let read = file::read(&text);
            prop_assert!(read.problems.is_empty(), "{:?}\n{}", read.problems, text);
            prop_assert_eq!(&read.manifest, &manifest);
            runtime.block_on(async {
                apply(&db.pool, &read, prune).await.unwrap();
                let exported = export(&db.pool).await.unwrap();
                let again = file::read(&exported);
                prop_assert_eq!(&again.manifest, &manifest);
                let difference = apply(&db.pool, &again, prune).await.unwrap();
                prop_assert!(difference.is_empty(), "{}", difference);
                Ok(())
            })
        })
        .unwrap();
}

#[tokio::test]
async fn an_export_says_only_what_is_not_as_usual_and_variables_as_they_were_written() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let exported = export(&db.pool).await.unwrap();
    let expected = "[[upstream]]\nname = \"catalogue\"\nurls = [\"http://127.0.0.1:9002\"]\n\n\
                    [[upstream]]\nname = \"orders\"\n\
                    urls = [\"http://127.0.0.1:9000\", \"http://127.0.0.1:9001/v2\"]\n\
                    connect_timeout = \"500ms\"\ntimeout = \"3s\"\nhealth = \"/healthz\"\n\
                    headers = { X-Service-Token = \"Bearer ${ORDERS_TOKEN}\" }\n\
                    breaker.failures = 3\nbreaker.window = \"20s\"\nbreaker.open_for = \"2s\"\nbreaker.max_in_flight = 50\n";
    assert!(exported.starts_with(expected), "{exported}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in "(\\[\\[(upstream|plan|route)\\]\\]\n)?([a-z_]{1,9} ?= ?(\"[^\"\n]{0,5}\"|[0-9.e-]{1,5}|\\[.{0,4}\\]|\\{.{0,8}\\})\n){0,4}.{0,20}") {
        let read = file::read(&text);
        let lines = text.matches('\n').count() + 1;
        prop_assert!(read.problems.iter().all(|problem| (1..=lines).contains(&problem.line)));
    }
}
