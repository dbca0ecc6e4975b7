//! The three cases that must be told apart at one look, and what belongs to them.

use app::domain::purge::Target;

use super::*;

const TIGHT: &str = "capacity = 5\nrefill_per_second = 0.01";

#[tokio::test(flavor = "multi_thread")]
async fn a_partner_that_retries_its_own_429_is_named_and_its_neighbour_is_not() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, TIGHT, PATIENT, &["acme", "globex"]).await;
    let hasty = scene.in_turn(0, "/api/billing", 80).await;
    scene.in_turn(1, "/api/billing", 5).await;
    let early = count(&hasty, "quota_early_retry");
    let refusals = early + count(&hasty, "quota_spent");
    let verdict = scene.verdicts(Who::Ops, 85).await.remove(0);
    let expected = format!(
        "`acme` is retrying its own 429: {early} of its {refusals} refusals came before the `Retry-After` it was given, "
    );
    assert!(verdict.text().starts_with(&expected), "{}", verdict.text());
    assert!(verdict.href.ends_with("&outcome=quota_early_retry&partner=acme"), "{}", verdict.href);
    assert_names_nobody(&scene.said(85).await, &["globex"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_sent_again_and_again_is_a_loop() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, "capacity = 20\nrefill_per_second = 0.01", PATIENT, &["acme"]).await;
    scene.post(0, (0..100).map(|_| "{\"item\": 100}".to_owned())).await;
    let said = scene.said(100).await;
    assert!(said[0].starts_with("`acme` is retrying its own 429: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rise_is_blamed_on_the_loop_that_made_it() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, TIGHT, PATIENT, &["acme", "globex"]).await;
    scene.had_before(&["acme", "globex"], "billing", 20).await;
    scene.in_turn(0, "/api/billing", 150).await;
    let said = scene.said(150).await.remove(0);
    assert!(said.starts_with("Arrivals are 3.8 times the 15 minutes before. "), "{said}");
    assert!(said.contains(" of the rise is `acme` retrying its own 429: "), "{said}");
    assert!(said.ends_with(" Reached the upstream: 5, before 40."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_of_many_workers_is_named_once_it_outlasts_a_burst() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, TIGHT, PATIENT, &["acme"]).await;
    let (client, url) = (client(), scene.toll.url("/api/billing"));
    let began = Instant::now();
    let (mut replies, mut early, mut spent) = (Vec::new(), 0, 0);
    // Refusals of the first three seconds are taken for a burst.
    while early < spent + 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "{early} early, {spent} spent");
        let round = join_all((0..4).map(|_| get(&client, &url, &scene.keys[0]))).await;
        (early, spent) = (early + count(&round, "quota_early_retry"), spent + count(&round, "quota_spent"));
        replies.extend(round);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let said = scene.said(replies.len() as u64).await;
    assert!(said[0].starts_with("`acme` is retrying its own 429: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_never_hits_earns_nothing_and_one_that_does_says_what_it_saved() {
    let origin = Origin::with(&[("cache-control", "max-age=600")], "body").await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    for n in 0..120 {
        assert_eq!(scene.get(0, &format!("/api/orders/{n}")).await.outcome(), "forwarded");
    }
    let said = scene.said(120).await;
    assert!(
        said.contains(
            &"The cache on `orders` earns nothing: 0 hits in 120; 120 were asked for the first time."
                .to_owned()
        ),
        "{said:?}"
    );
    scene.in_turn(0, "/api/orders/7", 480).await;
    let said = scene.said(600).await;
    let saved = "`orders` was served from cache 80 % of the time: 480 upstream calls";
    assert!(said.iter().any(|text| text.starts_with(saved)), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_whose_answers_may_not_be_stored_says_so() {
    let origin = Origin::with(&[("cache-control", "no-store")], "body").await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    scene.in_turn(0, "/api/orders/7", 120).await;
    let said = scene.said(120).await;
    let nothing = "The cache on `orders` earns nothing: 0 hits in 120; 120 were answered with what may not be stored, or has no lifetime.";
    assert!(said.iter().any(|text| text == nothing), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_breaker_is_why_an_upstream_is_quiet_and_nobody_calling_is_another_reason() {
    let origin = breakable(Arc::new(AtomicBool::new(true))).await;
    let breaker = r#"{ failures = 5, window = "10s", open_for = "600s" }"#;
    let scene = scene(&origin, AMPLE, breaker, &["acme", "globex"]).await;
    let failed = scene.in_turn(0, "/api/billing", 5).await;
    assert_eq!(count(&failed, "forwarded"), 5);
    scene.wait_for_open().await;
    scene.in_turn(0, "/api/billing", 20).await;
    scene.in_turn(1, "/api/billing", 12).await;
    let (all, held): (i64, i64) = loop {
        let row = sqlx::query_as("select count(*), count(*) filter (where outcome = 80) from request_log");
        let counts: (i64, i64) = row.fetch_one(&scene.toll.db.pool).await.unwrap();
        // The requests that waited for the door, the five that failed, and one or more while it was closing.
        if counts.1 >= 33 && counts.0 == origin.count() as i64 + counts.1 {
            break counts;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let verdicts = scene.verdicts(Who::Ops, all as u64).await;
    let texts: Vec<String> = verdicts.iter().map(Verdict::text).collect();
    let expected = format!(
        " because its breaker is open (5 failures in 10 s, the last: status 503); {held} requests of 2 partners were held \
         back."
    );
    // Between them is a time, and around midnight its date.
    let is_told = texts[0].starts_with("`billing` got nothing since ") && texts[0].ends_with(&expected);
    assert!(is_told, "{texts:?}");
    assert!(verdicts[0].href.ends_with("&upstream=billing"), "{}", verdicts[0].href);
    // `archive` is quiet too, and `orders`; those nobody calls.
    assert_eq!(texts.last().unwrap(), "`archive` and `orders` are quiet because nobody calls them.");
    assert_names_nobody(&texts, &["acme", "globex"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_key_that_is_still_used_is_counted() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    assert_eq!(scene.get(0, "/api/billing").await.status, 200);
    let key = app::keys::list(&scene.toll.db.pool, None).await.unwrap()[0].id;
    app::keys::revoke(&scene.toll.db.pool, app::changes::By("test"), None, key).await.unwrap();
    let began = Instant::now();
    let mut calls = 1;
    while scene.get(0, "/api/billing").await.outcome() != "key_revoked" {
        calls += 1;
        assert!(began.elapsed() < Duration::from_secs(20), "the key is still honoured");
    }
    scene.in_turn(0, "/api/billing", 30).await;
    let verdicts = scene.verdicts(Who::Ops, calls + 31).await;
    let verdict =
        verdicts.iter().find(|v| v.text().starts_with("`acme` still calls with a key revoked ")).unwrap();
    assert!(verdict.text().ends_with(" a minute."), "{}", verdict.text());
    assert!(verdict.href.ends_with(&format!("&stage=key&outcome=key_revoked&key={key}")), "{}", verdict.href);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_a_route_or_a_key_are_counted_and_no_partner_is_named() {
    let origin = Origin::ok().await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    scene.in_turn(0, "/api/billing", 40).await;
    scene.in_turn(0, "/api/nothing", 100).await;
    let (client, url) = (client(), scene.toll.url("/api/billing"));
    for _ in 0..60 {
        assert_eq!(get(&client, &url, "no-key").await.outcome(), "key_malformed");
    }
    let said = scene.said(200).await;
    assert_eq!(
        said[..2],
        ["50 % of arrivals named no route: 100 of 200.", "30 % of arrivals had no valid key: 60 of 200."]
    );
    assert_names_nobody(&said, &["acme"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_that_has_to_forget_says_so() {
    let origin = Origin::with(&[("cache-control", "max-age=600")], "body").await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    for n in 0..120 {
        scene.get(0, &format!("/api/orders/{n}")).await;
    }
    for prefix in ["/api/orders", "/api/orders/1", "/api/billing"] {
        let target = Target::read("prefix", prefix).unwrap();
        app::purge::purge(&scene.toll.db.pool, &target, "test").await.unwrap();
    }
    let said = scene.said(120).await;
    let why = "; 120 were asked for the first time, or for the first time after one of 2 purges.";
    assert!(said[0].ends_with(why), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cache_whose_answers_are_only_confirmed_saves_no_calls() {
    let origin = Origin::start(|seen| async move {
        let is_known = seen.headers.contains_key("if-none-match");
        let answer = http::Response::builder().header("etag", "\"1\"").header("cache-control", "max-age=0");
        answer
            .status(if is_known { 304 } else { 200 })
            .body(if is_known { "" } else { "body" }.into())
            .unwrap()
    })
    .await;
    let scene = scene(&origin, AMPLE, PATIENT, &["acme"]).await;
    scene.in_turn(0, "/api/orders/1", 120).await;
    assert_eq!(
        scene.said(120).await[0],
        "The cache on `orders` saves no calls: 0 hits in 120; 119 had gone stale, and were unchanged when asked for again."
    );
}
