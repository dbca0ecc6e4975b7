//! Targeted cache control (RFC 9213).

use super::origin::{answer, date};
use super::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_targeted_field_counts_instead_of_cache_control_and_expires_rfc_9213_2_2() {
    let world = World::new().await;
    let (now, later, past) = (date(0), date(600), date(-600));
    for (n, (headers, outcome)) in [
        (vec![("cdn-cache-control", "max-age=60")], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=99999999999")], "cache_hit"),
        (vec![("cdn-cache-control", "foobar, max-age=60")], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=60"), ("cache-control", "no-store")], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=60"), ("cache-control", "private")], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=60"), ("expires", &past), ("date", &now)], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=60"), ("expires", "0")], "cache_hit"),
        (vec![("cdn-cache-control", "max-age=0"), ("cache-control", "max-age=60")], "forwarded"),
        (vec![("cdn-cache-control", "max-age=0"), ("expires", &later), ("date", &now)], "forwarded"),
        (vec![("cdn-cache-control", "private"), ("cache-control", "max-age=60")], "forwarded"),
        (vec![("cdn-cache-control", "no-cache"), ("cache-control", "max-age=60")], "forwarded"),
        (vec![("cdn-cache-control", "no-store"), ("cache-control", "max-age=60")], "forwarded"),
        (vec![("cdn-cache-control", "max-age=60"), ("age", "120"), ("date", &now)], "forwarded"),
        (vec![("toll-cache-control", "max-age=60"), ("cdn-cache-control", "no-store")], "cache_hit"),
        (vec![("toll-cache-control", "no-store"), ("cdn-cache-control", "max-age=60")], "forwarded"),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = world.twice(&format!("/{n}"), [answer(200, &headers, "body")]).await;
        assert_eq!(reply.outcome(), outcome, "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_is_no_dictionary_is_as_if_it_were_not_there_rfc_9213_2_1() {
    let world = World::new().await;
    for (n, field) in ["max-age=60, &&&&&", "MaX-aGe=60", "max-age =60", "max-age= 60", "", "max-age=60,"]
        .into_iter()
        .enumerate()
    {
        let headers = [("cdn-cache-control", field), ("cache-control", "no-store")];
        let reply = world.twice(&format!("/{n}"), [answer(200, &headers, "body")]).await;
        assert_eq!(reply.outcome(), "forwarded", "{field}");
    }
    let wrong_type = [("cdn-cache-control", "max-age=\"60\""), ("cache-control", "max-age=60")];
    assert_eq!(world.twice("/type", [answer(200, &wrong_type, "body")]).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_for_toll_goes_no_further_and_what_is_for_all_does() {
    let world = World::new().await;
    let headers = [("toll-cache-control", "max-age=60"), ("cdn-cache-control", "max-age=30")];
    world.origin.at("/a", [answer(200, &headers, "body")]);
    for outcome in ["forwarded", "cache_hit"] {
        let reply = world.get("/a").await;
        assert_eq!((reply.outcome(), reply.header("toll-cache-control")), (outcome, ""));
        assert_eq!(reply.header("cdn-cache-control"), "max-age=30");
    }
}
