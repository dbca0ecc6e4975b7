//! Answers to requests with `Authorization` (RFC 9111 §3.5).

use super::origin::cached;
use super::world::World;

const SOMEBODY: [(&str, &str); 1] = [("authorization", "Basic c29tZWJvZHk=")];

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_credentials_is_not_given_to_another_rfc_9111_3_5() {
    let world = World::with("cache_ttl = \"60s\"").await;
    for (n, control) in ["max-age=60", "max-age=60, proxy-revalidate", "foobar"].into_iter().enumerate() {
        let target = format!("/{n}");
        world.origin.at(&target, [cached(control, "mine"), cached("no-store", "yours")]);
        world.get_with(&target, &SOMEBODY).await;
        assert_eq!(world.origin.last(&target).header("authorization"), SOMEBODY[0].1);
        assert_eq!(world.get(&target).await.body, "yours", "{control}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unless_the_origin_says_that_it_may_be_rfc_9111_3_5() {
    let world = World::new().await;
    for (n, control) in
        ["public, max-age=60", "must-revalidate, max-age=60", "s-maxage=60"].into_iter().enumerate()
    {
        let target = format!("/{n}");
        world.origin.at(&target, [cached(control, "body")]);
        world.get_with(&target, &SOMEBODY).await;
        assert_eq!(world.get(&target).await.outcome(), "cache_hit", "{control}");
    }
}
