//! What the route stage answers itself.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use sqlx::Executor;

use super::Driven;
use super::everywhere::{Ending, assert_told};
use super::house::{House, catalog};
use crate::support::books::closed_books;
use crate::support::catalog::declare;
use crate::support::raw::{RawClient, ask, request};

pub const DRIVEN: &[Driven] = &[
    (Outcome::NoRoute, a_path_that_leads_nowhere_has_no_route),
    (Outcome::RouteOff, a_route_that_is_switched_off_says_when_to_come_back),
    (Outcome::MethodNotAllowed, another_method_is_told_which_ones_there_are),
    (Outcome::BadPath, a_dot_segment_makes_a_bad_path),
    (Outcome::BadRequest, two_hosts_make_a_bad_request),
    (Outcome::BodyTooLarge, a_body_that_is_too_large_by_its_own_account_is_refused_at_once),
    (Outcome::Preflight, a_preflight_is_answered_here),
    (Outcome::LoopDetected, a_request_that_has_been_here_before_is_a_loop),
    (Outcome::BooksFull, a_gateway_that_can_write_nothing_down_does_nothing),
];

fn refused(outcome: Outcome) -> Ending {
    Ending::early(Stage::Route, outcome)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_leads_nowhere_has_no_route() {
    let house = House::open().await;
    let reply = house.get("/nowhere").await;
    house.assert_ended(&reply, refused(Outcome::NoRoute)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_that_is_switched_off_says_when_to_come_back() {
    let house = House::open().await;
    let reply = house.get("/closed").await;
    assert_eq!(reply.header("retry-after"), "60");
    house.assert_ended(&reply, refused(Outcome::RouteOff)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_method_is_told_which_ones_there_are() {
    let house = House::open().await;
    let reply = house.ask("DELETE", "/orders", &[]).await;
    assert_eq!(reply.header("allow"), "GET, HEAD, POST");
    house.assert_ended(&reply, refused(Outcome::MethodNotAllowed)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dot_segment_makes_a_bad_path() {
    let house = House::open().await;
    let reply = house.get("/orders/%2e%2e/secret").await;
    house.assert_ended(&reply, refused(Outcome::BadPath)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hosts_make_a_bad_request() {
    let house = House::open().await;
    let reply = house.ask("GET", "/orders", &[("Host", "elsewhere.test")]).await;
    house.assert_ended(&reply, refused(Outcome::BadRequest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_large_by_its_own_account_is_refused_at_once() {
    let house = House::open().await;
    // None of the body is sent.
    let reply = house.ask("POST", "/orders", &[("Content-Length", "1025")]).await;
    house.assert_ended(&reply, refused(Outcome::BodyTooLarge)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preflight_is_answered_here() {
    let house = House::open().await;
    let asked = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")];
    let reply = house.ask("OPTIONS", "/orders/7", &asked).await;
    assert_eq!(reply.header("access-control-allow-origin"), "https://shop.example");
    house.assert_ended(&reply, refused(Outcome::Preflight)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_has_been_here_before_is_a_loop() {
    let house = House::open().await;
    let reply = house.ask("GET", "/orders", &[("Via", "1.1 elsewhere, 1.1 toll")]).await;
    // Both are in the list, the gateway's own at its end.
    assert_eq!(reply.headers.get_all("via").iter().count(), 1);
    house.assert_ended(&reply, refused(Outcome::LoopDetected)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_is_the_gateway_itself_is_called_once_and_both_rounds_are_in_the_books() {
    let house = House::open().await;
    let round = format!(
        "[[upstream]]\nname = \"round\"\nurls = [\"{}\"]\n[[route]]\nname = \"round\"\npath = \"/round\"\nupstream = \"round\"\n",
        house.toll.url("/api/round")
    );
    declare(&house.toll.db.pool, &(catalog(&house.origin.url()) + &round)).await;
    house.toll.settled().await;
    let reply = house.get("/round").await;
    assert_told(&reply, Ending::late(Outcome::Forwarded, 508, 508));
    assert_eq!(reply.json()["outcome"], "loop_detected");
    let funnel = closed_books(&house.toll).await;
    assert_eq!((funnel.arrived, funnel.upstream_calls, funnel.statuses.server_error), (2, 1, 1));
    assert_eq!(funnel.stage(Stage::Route).outcomes["loop_detected"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_that_can_write_nothing_down_does_nothing() {
    let house = House::with(&[("journal_bytes", "128KiB"), ("gateway_threads", "1")]).await;
    assert_eq!(house.get("/orders").await.status, 200);
    closed_books(&house.toll).await;
    // Nobody ships while this is held.
    let mut holder = house.connection().await;
    holder.execute("begin; lock table lane in exclusive mode").await.unwrap();
    let long = request("GET", &format!("/api/nowhere/{}", "x".repeat(900)), &[]);
    let mut client = RawClient::connect(house.toll.address()).await;
    let mut written = 1;
    let full = loop {
        client.send(&long).await;
        let reply = client.reply().await;
        if reply.outcome() == "books_full" {
            break reply;
        }
        written += 1;
        assert!(written < 1_000, "the bound of the journal is not kept");
    };
    assert_told(&full, refused(Outcome::BooksFull));
    holder.execute("rollback").await.unwrap();
    let (funnel, _) = house.in_the_books(refused(Outcome::BooksFull)).await;
    assert_eq!(funnel.arrived, written + 1);
    assert_eq!(ask(house.toll.address(), &long).await.outcome(), "no_route");
}
