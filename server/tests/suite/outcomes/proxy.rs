//! What ends at the proxy stage before an upstream was reached.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;

use super::Driven;
use super::everywhere::Ending;
use super::house::House;

pub const DRIVEN: &[Driven] = &[
    (Outcome::BodyTooLarge, a_body_that_turns_out_too_large_never_leaves_the_gateway),
    (Outcome::RequestTimeout, a_body_that_does_not_come_is_waited_for_no_longer),
    (Outcome::UpstreamUnreachable, an_upstream_that_takes_no_connection_is_unreachable),
];

fn not_reached(outcome: Outcome) -> Ending {
    Ending::early(Stage::Proxy, outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_turns_out_too_large_never_leaves_the_gateway() {
    let house = House::open().await;
    let chunk = format!("401\r\n{}\r\n", "x".repeat(0x401));
    let mut client = house.begin("POST", "/orders", &[("Transfer-Encoding", "chunked")], &chunk).await;
    let reply = client.reply().await;
    let funnel = house.assert_ended(&reply, not_reached(Outcome::BodyTooLarge)).await;
    assert_eq!(funnel.upstream_calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_come_is_waited_for_no_longer() {
    let house = House::with(&[("body_idle", "200ms")]).await;
    let mut client = house.begin("POST", "/orders", &[("Content-Length", "10")], "four").await;
    let reply = client.reply().await;
    let funnel = house.assert_ended(&reply, not_reached(Outcome::RequestTimeout)).await;
    assert_eq!(funnel.upstream_calls, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_takes_no_connection_is_unreachable() {
    let house = House::open().await;
    let reply = house.get("/dead").await;
    let funnel = house.assert_ended(&reply, not_reached(Outcome::UpstreamUnreachable)).await;
    assert_eq!((funnel.reached_upstream, funnel.upstream_calls), (0, 0));
}
