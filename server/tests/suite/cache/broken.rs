//! An answer that did not come whole is never stored (RFC 9111 §3.3).

use super::origin::{Answer, cached};
use super::world::World;
use crate::support::client::Reply;

/// The status if the whole came, as far as the client can tell.
async fn read(world: &World, target: &str) -> Option<u16> {
    let response = world.client.get(world.url(target)).header("x-api-key", &world.key).send().await.ok()?;
    let status = response.status().as_u16();
    response.bytes().await.ok().map(|_| status)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_breaks_off_is_not_stored_rfc_9111_3_3() {
    let world = World::new().await;
    let head = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\n";
    let short = format!("{head}content-length: 9\r\n\r\nshort");
    let open = format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nshort\r\n");
    let garbled = format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nshort\r\nzz\r\n");
    for (n, broken) in [short, open, garbled].iter().enumerate() {
        let target = format!("/{n}");
        world.origin.at(&target, [Answer::written(broken).then_closed(), cached("max-age=60", "whole")]);
        assert_eq!(read(&world, &target).await, None, "{broken}");
        let reply = world.get(&target).await;
        assert_eq!((reply.outcome(), &reply.body[..]), ("forwarded", &b"whole"[..]), "{broken}");
    }
    let funnel = world.books(6).await;
    assert_eq!(funnel.reached_upstream, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_ends_with_the_connection_is_not_stored() {
    let world = World::new().await;
    let open =
        Answer::written("HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\n\r\nperhaps whole").then_closed();
    assert_eq!(world.twice("/a", [open]).await.outcome(), "forwarded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chunked_body_with_its_end_is_stored() {
    let world = World::new().await;
    let chunked = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n";
    let reply = world.twice("/a", [Answer::written(chunked)]).await;
    assert_eq!(
        (reply.outcome(), reply.header("content-length"), &reply.body[..]),
        ("cache_hit", "4", &b"body"[..])
    );
    assert_eq!(reply.header("transfer-encoding"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_leaves_nothing_half_stored() {
    let world = World::new().await;
    let gate = super::origin::gate();
    let half = "HTTP/1.1 200 OK\r\ncache-control: max-age=60\r\ncontent-length: 8\r\n\r\nhalf";
    world.origin.at(
        "/a",
        [Answer::written(half).then_waiting(&gate).then_written("full"), cached("max-age=60", "whole")],
    );
    let response = world.client.get(world.url("/a")).header("x-api-key", &world.key).send().await.unwrap();
    drop(response);
    world.books(1).await;
    assert_eq!(
        Reply::of(world.client.get(world.url("/a")).header("x-api-key", &world.key)).await.body,
        "whole"
    );
}
