//! Which headers are stored (RFC 9111 §3.1).

use super::origin::answer;
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn what_connection_names_and_what_belongs_to_one_hop_is_not_stored_rfc_9111_3_1() {
    let world = World::new().await;
    let headers = [
        ("cache-control", "max-age=60"),
        ("connection", "a, b"),
        ("a", "1"),
        ("b", "2"),
        ("c", "3"),
        ("keep-alive", "timeout=5"),
        ("proxy-authenticate", "Basic"),
        ("proxy-authentication-info", "x"),
        ("proxy-authorization", "x"),
        ("proxy-connection", "x"),
        ("te", "trailers"),
        ("toll-cache-control", "max-age=60"),
        ("x-toll-partner", "forged"),
    ];
    let reply = world.twice("/a", [answer(200, &headers, "body")]).await;
    assert_eq!((reply.outcome(), reply.header("c")), ("cache_hit", "3"));
    for (name, _) in headers.iter().skip(2).filter(|(name, _)| *name != "c") {
        assert_eq!(reply.header(name), "", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_else_comes_back_as_it_was() {
    let world = World::new().await;
    let headers = [
        ("cache-control", "max-age=60"),
        ("content-type", "text/plain; charset=utf-8"),
        ("content-encoding", "x-odd"),
        ("content-language", "de"),
        ("content-security-policy", "default-src 'self'"),
        ("strict-transport-security", "max-age=1"),
        ("www-authenticate", "Basic realm=\"x\""),
        ("set-cookie2", "a=b"),
        ("x-frame-options", "deny"),
        ("x-twice", "1"),
        ("x-twice", "2"),
        ("x-empty", ""),
        ("location", "/elsewhere"),
        ("cdn-cache-control", "max-age=60"),
        ("age", "3"),
    ];
    let reply = world.twice("/a", [answer(200, &headers, "body")]).await;
    assert_eq!(reply.outcome(), "cache_hit");
    for (name, value) in headers.iter().filter(|(name, _)| !["x-twice", "age"].contains(name)) {
        assert!(reply.headers.contains_key(*name), "{name}");
        assert_eq!(reply.header(name), *value, "{name}");
    }
    assert_eq!(reply.headers.get_all("x-twice").iter().collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!(reply.headers.get_all("via").iter().collect::<Vec<_>>(), ["1.1 toll"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_has_its_own_id_and_the_stored_one_nobodys() {
    let world = World::new().await;
    world.origin.at("/a", [answer(200, &[("cache-control", "max-age=60")], "body")]);
    let first = world.get_with("/a", &[("x-request-id", "one")]).await;
    let second = world.get_with("/a", &[("x-request-id", "two")]).await;
    assert_eq!((first.header("x-request-id"), second.header("x-request-id")), ("one", "two"));
    assert_ne!(first.header("x-toll-id"), second.header("x-toll-id"));
    assert_eq!(second.headers.get_all("x-toll-outcome").iter().count(), 1);
}
