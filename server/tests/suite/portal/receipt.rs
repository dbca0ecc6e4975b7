//! `/r/<request id>`: who sees which receipt.

use app::people::InviteAs;
use http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use super::{partner, portal};

/// A line of the log, as the ledger writes it: a forwarded request with this path and user agent.
async fn log(db: &PgPool, id: Uuid, partner: i64, path: &str, agent: &str) {
    sqlx::query(
        "insert into request_log
         select 1, 0, coalesce(max(seq), 0) + 1, $1, to_timestamp($5::float8 / 1000), 0, $2, 0, 6, 102, true, 200, 200, 3,
             'GET', $3, 'their own', '127.0.0.1', $4, 'http://10.1.2.3:9000', 0, 2, 1500, array[10, 20, 30, 40, 50, 1350],
             60, 59, null, null, false, 1, true
         from request_log",
    )
    .bind(id)
    .bind(partner)
    .bind(path)
    .bind(agent)
    .bind((id.as_u128() >> 80) as f64)
    .execute(db)
    .await
    .unwrap();
}

#[tokio::test]
async fn a_receipt_is_its_partners_and_the_operators_and_nobody_elses() {
    let portal = portal("http://toll.example").await;
    let (acme, globex) = (partner(&portal.db, "acme").await, partner(&portal.db, "globex").await);
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let eve = portal.session("eve@globex.example", InviteAs::Partner(globex)).await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let id = Uuid::now_v7();
    log(&portal.db, id, acme, "/api/orders/7", "curl/8").await;
    let path = format!("/r/{id}");

    let own = portal.page(&path, &bob).await;
    assert_eq!(own.status, StatusCode::OK);
    assert!(own.body.contains("GET /api/orders/7 was answered 200 by the upstream."), "{}", own.body);
    assert!(own.body.contains("asked for the first time") && own.body.contains("60 of 60 before, 59 after"));
    assert!(!own.body.contains("10.1.2.3"), "where the upstream is, is the operators' business");

    let others = portal.page(&path, &eve).await;
    assert_eq!(others.status, StatusCode::NOT_FOUND);
    assert!(!others.body.contains("orders/7"));
    assert_eq!(portal.call("receipt", &eve, &format!("id={id}")).await.status, StatusCode::NOT_FOUND);

    let ops = portal.page(&path, &ada).await;
    assert!(ops.status == StatusCode::OK && ops.body.contains("10.1.2.3") && ops.body.contains("acme"));
    assert!(portal.page(&path, "").await.header("location").starts_with("/?next=%2Fr%2F"));
}

#[tokio::test]
async fn a_receipt_tells_the_plan_that_was_in_force() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let ada = portal.session("ada@example.com", InviteAs::Ops).await;
    let id = Uuid::now_v7();
    log(&portal.db, id, acme, "/api/orders/7", "curl/8").await;
    sqlx::raw_sql(
        "update plan set name = 'free';
         insert into plan (name, capacity, refill_per_second) values ('business', 3000, 100)",
    )
    .execute(&portal.db)
    .await
    .unwrap();
    let changed = portal.post("/ops/partners/acme", &ada, "act=plan&plan=business").await;
    assert_eq!(changed.status, StatusCode::FOUND, "{}", changed.body);
    let then = portal.page(&format!("/r/{id}"), &ada).await.body;
    assert!(then.contains("60 of 60 before, 59 after"), "another plan since: {then}");

    sqlx::raw_sql(
        r#"update plan set capacity = 7 where name = 'free';
           insert into change (who, what, name, before, after)
           values ('toll apply', 'plan', 'free', '{ "capacity": 60 }', '{ "capacity": 7 }')"#,
    )
    .execute(&portal.db)
    .await
    .unwrap();
    let then = portal.page(&format!("/r/{id}"), &ada).await.body;
    assert!(then.contains("60 of 60 before, 59 after"), "that plan is another since: {then}");
    let later = Uuid::now_v7();
    log(&portal.db, later, acme, "/api/orders/7", "curl/8").await;
    assert!(portal.page(&format!("/r/{later}"), &ada).await.body.contains("60 of 3,000 before, 59 after"));
}

#[tokio::test]
async fn who_was_held_back_is_told_whether_an_operator_had_opened_the_breaker() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    sqlx::raw_sql(
        "insert into upstream (id, name, urls) overriding system value values (9, 'billing', array['http://127.0.0.1:9']);
         insert into route (id, name, path, upstream_id) overriding system value values (9, 'billing', '/billing', 9)",
    )
    .execute(&portal.db)
    .await
    .unwrap();
    let held_back = async || {
        let id = Uuid::now_v7();
        log(&portal.db, id, acme, "/api/billing", "curl/8").await;
        sqlx::query("update request_log set route_id = 9, stage = 5, outcome = 80, reached = false, status = 503 where id = $1")
            .bind(id)
            .execute(&portal.db)
            .await
            .unwrap();
        portal.page(&format!("/r/{id}"), &bob).await.body
    };
    let moved = async |ago: i64, state: &str, reason: &str| {
        sqlx::query(
            "insert into breaker_event (upstream_id, at, state, generation, reason, by_hand)
             values (9, date_trunc('day', now()) - interval '1 hour' * $1, $2, 2, $3, $3 like 'opened by %')",
        )
        .bind(ago as f64)
        .bind(state)
        .bind(reason)
        .execute(&portal.db)
        .await
        .unwrap();
    };
    assert!(held_back().await.contains("The breaker was open: it opens after 5 failures within 10 s"));
    moved(9, "open", "5 failures in 10 s, the last: timeout").await;
    moved(8, "closed", "the probe succeeded").await;
    moved(7, "open", "5 failures in 10 s, the last: timeout").await;
    // A probe that fails opens nothing anew.
    moved(6, "open", "the probe failed: timeout").await;
    let failed = held_back().await;
    assert!(failed.contains(", 17:00:00: it opens after 5 failures within 10 s"), "{failed}");
    moved(5, "closed", "the probe succeeded").await;
    moved(4, "open", "opened by ada@example.com for 24 hours").await;
    let by_hand = held_back().await;
    assert!(by_hand.contains(", 20:00:00: an operator had opened it."), "{by_hand}");
    assert!(!by_hand.contains("ada@example.com"), "who of them, is their business");
}

#[tokio::test]
async fn one_that_is_not_written_yet_is_waited_for_and_one_that_never_was_is_not() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let id = Uuid::now_v7();
    let soon = portal.page(&format!("/r/{id}"), &bob).await;
    assert_eq!(soon.status, StatusCode::OK);
    assert!(soon.body.contains("being written down"));
    log(&portal.db, id, acme, "/api/orders", "curl/8").await;
    assert!(portal.page(&format!("/r/{id}"), &bob).await.body.contains("Its way"));
    // Of a year ago, of another version, and of no form at all.
    let never = ["0192f0a0-0000-7000-8000-000000000000", "919108f7-52d1-4320-9bac-f847db4148a8", "x"];
    for id in never {
        assert_eq!(portal.page(&format!("/r/{id}"), &bob).await.status, StatusCode::NOT_FOUND, "{id}");
    }
}

#[tokio::test]
async fn what_clients_wrote_is_text_on_the_page_and_nothing_else() {
    let portal = portal("http://toll.example").await;
    let acme = partner(&portal.db, "acme").await;
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    let id = Uuid::now_v7();
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    log(&portal.db, id, acme, evil, evil).await;
    let page = portal.page(&format!("/r/{id}"), &bob).await;
    assert!(!page.body.contains("<script>alert") && !page.body.contains("<img"), "{}", page.body);
    assert!(page.body.contains("&lt;script&gt;alert(1)"));
}

#[tokio::test]
async fn a_partners_list_holds_its_own_requests_whatever_the_address_asks_for() {
    let portal = portal("http://toll.example").await;
    let (acme, globex) = (partner(&portal.db, "acme").await, partner(&portal.db, "globex").await);
    let bob = portal.session("bob@acme.example", InviteAs::Partner(acme)).await;
    log(&portal.db, Uuid::now_v7(), acme, "/api/ours", "curl/8").await;
    log(&portal.db, Uuid::now_v7(), globex, "/api/theirs", "curl/8").await;
    for query in ["", "?partner=globex", "?partner=acme"] {
        let list = portal.page(&format!("/portal/requests{query}"), &bob).await;
        assert_eq!(list.status, StatusCode::OK, "{query}");
        assert!(list.body.contains("/api/ours") && !list.body.contains("/api/theirs"), "{query}");
    }
    let asked = "span=1h&asked%5Bpartner%5D=globex";
    let called = portal.call("partner_requests", &bob, asked).await;
    assert!(!called.body.contains("/api/theirs"), "{}", called.body);
}
