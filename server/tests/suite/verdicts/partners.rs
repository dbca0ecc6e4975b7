//! What a partner reads about itself, and that it reads nothing of others.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_learns_how_long_it_waited_and_how_long_it_was_asked_to() {
    let origin = Origin::ok().await;
    let plan = "capacity = 5\nrefill_per_second = 0.01";
    let scene = scene(&origin, plan, PATIENT, &["acme", "globex"]).await;
    let hasty = scene.in_turn(0, "/api/billing", 60).await;
    let patient = scene.in_turn(1, "/api/billing", 5).await;
    assert_eq!(count(&patient, "forwarded"), 5);
    let early = count(&hasty, "quota_early_retry");
    let acme = Who::Partner(scene.partner("acme").await);
    let evidence = scene.evidence(acme, 60).await;
    let habit = evidence.habit.unwrap();
    assert!(habit.asked_ms >= 90_000 && habit.asked_ms <= 100_000, "{habit:?}");
    assert!(habit.waited_ms < 10_000, "{habit:?}");
    let text = verdicts(&evidence)[0].text();
    let refusals = early + count(&hasty, "quota_spent");
    let expected = format!("{early} of your {refusals} refusals were retries sent too early: you waited ");
    assert!(text.starts_with(&expected), "{text}");
    let globex = Who::Partner(scene.partner("globex").await);
    assert!(scene.verdicts(globex, 5).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_reads_of_its_own_requests_only() {
    let origin = breakable(Arc::new(AtomicBool::new(true))).await;
    let breaker = r#"{ failures = 5, window = "10s", open_for = "600s" }"#;
    let scene = scene(&origin, AMPLE, breaker, &["acme", "globex"]).await;
    scene.in_turn(0, "/api/billing", 5).await;
    scene.wait_for_open().await;
    scene.in_turn(0, "/api/billing", 30).await;
    let held = scene.in_turn(1, "/api/billing", 4).await;
    assert_eq!(count(&held, "breaker_open"), 4);
    let globex = Who::Partner(scene.partner("globex").await);
    let verdicts = scene.verdicts(globex, 4).await;
    assert_eq!(verdicts.len(), 1);
    let text = verdicts[0].text();
    assert!(text.starts_with("`billing` has been unavailable since "), "{text}");
    assert!(
        text.ends_with(": 4 of your requests were held back to let it recover. It is not your doing."),
        "{text}"
    );
    assert!(verdicts[0].href.starts_with("/portal/requests?"), "{}", verdicts[0].href);
}
