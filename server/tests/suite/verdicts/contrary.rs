//! What looks like a fault of a partner and is none: nobody is accused.

use std::net::IpAddr;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_first_attempts_is_no_retry_loop() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 60\nrefill_per_second = 0.0", PATIENT, &["acme"]).await;
    scene.had_before(&["acme"], "billing", 50).await;
    let replies = scene.burst(0, "/api/billing", 250).await;
    assert_eq!(count(&replies, "quota_spent"), 190);
    let said = scene.said(250).await;
    assert_eq!(
        said[0],
        "Arrivals are 5 times the 15 minutes before. 95 % of the rise went beyond a quota: first attempts, not retries. \
         Reached the upstream: 60, before 50."
    );
    assert_names_nobody(&said, &["acme"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_asks_for_one_thing_after_the_other_is_no_retry_loop() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 20\nrefill_per_second = 0.01", PATIENT, &["initech"]).await;
    let (client, mut replies) = (client(), Vec::new());
    for item in 0..80 {
        let url = scene.toll.url(&format!("/api/billing/{item}"));
        replies.push(get(&client, &url, &scene.keys[0]).await);
    }
    assert!(count(&replies, "quota_early_retry") >= 50, "the label alone would accuse");
    assert_names_nobody(&scene.said(80).await, &["initech"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_another_question_each_time_is_no_retry_loop() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 20\nrefill_per_second = 0.01", PATIENT, &["initech"]).await;
    let (client, mut replies) = (client(), Vec::new());
    for page in 0..40 {
        let url = scene.toll.url(&format!("/api/billing/search?page={page}"));
        replies.push(get(&client, &url, &scene.keys[0]).await);
        let posted = client.post(scene.toll.url("/api/billing")).header("x-api-key", &scene.keys[0]);
        replies.push(Reply::of(posted.body("x".repeat(page))).await);
    }
    assert!(count(&replies, "quota_early_retry") >= 50, "the label alone would accuse");
    assert_names_nobody(&scene.said(80).await, &["initech"]);
    let initech = Who::Partner(scene.partner("initech").await);
    let read = scene.verdicts(initech, 80).await.remove(0).text();
    assert!(read.starts_with("60 of your 80 requests went beyond your quota"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_of_one_length_are_not_one_that_is_sent_again() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 20\nrefill_per_second = 0.01", PATIENT, &["initech"]).await;
    let replies = scene.post(0, (100..200).map(|item| format!("{{\"item\": {item}}}"))).await;
    assert!(count(&replies, "quota_early_retry") >= 70, "the label alone would accuse");
    assert_names_nobody(&scene.said(100).await, &["initech"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn partners_that_grow_together_are_real_traffic() {
    let origin = Origin::ok().await;
    let partners = ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11"];
    let scene = scene(&origin, AMPLE, PATIENT, &partners).await;
    scene.had_before(&partners, "billing", 20).await;
    for partner in 0..partners.len() {
        scene.burst(partner, "/api/billing", 40).await;
    }
    let verdict = scene.verdicts(Who::Ops, 480).await.remove(0);
    assert_eq!(
        verdict.text(),
        "Arrivals doubled across 12 partners; 100 % passed quota; `billing` carries it."
    );
    assert_names_nobody(&scene.said(480).await, &["`p"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fleet_of_many_addresses_on_one_key_is_no_retry_loop() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 20\nrefill_per_second = 0.01", PATIENT, &["acme"]).await;
    let url = scene.toll.url("/api/billing");
    let mut replies = Vec::new();
    // Each machine asks once, one machine after the other.
    for machine in 2..152 {
        let address = IpAddr::from([127, 0, 0, machine]);
        let machine = reqwest::Client::builder().local_address(address).build().unwrap();
        replies.push(get(&machine, &url, &scene.keys[0]).await);
    }
    assert_eq!(count(&replies, "quota_early_retry"), 0);
    assert!(count(&replies, "quota_spent") >= 120);
    assert_names_nobody(&scene.said(150).await, &["acme"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_retries_because_an_upstream_answers_5xx_is_not_accused() {
    let origin = breakable(Arc::new(AtomicBool::new(true))).await;
    let scene = scene(&origin, "capacity = 40\nrefill_per_second = 0.01", PATIENT, &["acme", "globex"]).await;
    // Until the quota is spent on answers that were no use, and beyond.
    let replies = scene.in_turn(0, "/api/billing", 100).await;
    assert!(count(&replies, "quota_early_retry") >= 50, "the label alone would accuse");
    scene.in_turn(1, "/api/billing", 20).await;
    let said = scene.said(120).await;
    let reached = origin.count();
    assert!(said[0].starts_with("`billing` answered 100 % of what it got with 5xx since "), "{said:?}");
    assert!(said[0].ends_with(&format!("; {} requests were stopped before it.", 120 - reached)), "{said:?}");
    assert_names_nobody(&said, &["acme", "globex"]);
    let acme = Who::Partner(scene.partner("acme").await);
    let read: Vec<String> = scene.verdicts(acme, 100).await.iter().map(Verdict::text).collect();
    assert!(read.iter().any(|text| text.starts_with("`billing` answered 100 %")), "{read:?}");
    assert!(!read.iter().any(|text| text.contains("retries sent too early")), "{read:?}");
}
