//! Verdicts on what the books tell of minutes that are over.

use app::breakers::{Hand, by_hand};
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::verdict::about;
use app::domain::verdict::evidence::Answers;
use sqlx::postgres::PgPoolOptions;
use toll::ledger::record::{End, Record};

use super::*;

const ALONE: &[&str] = &["acme"];

impl Scene {
    /// Eighty refusals in a minute, 750 ms apart: of one request, asked to wait so long, and made by these programs in turn.
    async fn refused(&self, asked_ms: i64, programs: usize) -> Vec<String> {
        let early = self.record("acme", "billing", Stage::Quota, Outcome::QuotaEarlyRetry).await;
        let (retry_asked_ms, retry_waited_ms) = (Some(asked_ms), Some(750));
        let early = Record { retry_asked_ms, retry_waited_ms, same_again: true, ..early };
        let of = |n| Record { user_agent: format!("program/{}", n % programs), ..early.clone() };
        self.write_past(6, (0..80).map(of).collect()).await;
        self.said(80).await
    }

    /// The breaker of `billing` opened twelve minutes ago, and held back so many requests in that minute.
    async fn was_shut_and_held_back(&self, requests: usize) {
        let held = self.record("acme", "billing", Stage::Breaker, Outcome::BreakerOpen).await;
        self.write_past(12, vec![held; requests]).await;
        self.event_of_billing(720, "open").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_that_has_ended_is_told_in_the_past() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let said = scene.refused(60_000, 1).await.remove(0);
    assert!(said.starts_with("`acme` was retrying its own 429 until "), "{said}");
    assert!(said.ends_with(
        ": 80 of its 80 refusals came before the `Retry-After` it was given, 100 % of all arrivals."
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_share_a_request_and_come_back_when_they_were_asked_to_are_no_retry_loop() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let early = scene.record("acme", "billing", Stage::Quota, Outcome::QuotaEarlyRetry).await;
    let (retry_asked_ms, retry_waited_ms) = (Some(5_000), Some(750));
    let early = Record { retry_asked_ms, retry_waited_ms, same_again: true, ..early };
    let stranger = Record {
        partner: 0,
        key: 0,
        ..scene.record("acme", "billing", Stage::Key, Outcome::KeyMissing).await
    };
    // Seven callers, each of which waits as long as it was told to, by its own clock: twelve times in a minute.
    let is_refused =
        |twelfth_of_a_second: usize| [0, 4, 11, 13, 30, 41, 55].contains(&(twelfth_of_a_second % 60));
    let records = (0..720).map(|n| if is_refused(n) { early.clone() } else { stranger.clone() });
    scene.write_past(6, records.collect()).await;
    assert_names_nobody(&scene.said(720).await, ALONE);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_that_ask_for_the_same_thing_are_not_one_that_retries() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    assert_names_nobody(&scene.refused(60_000, 80).await, ALONE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breaker_that_opens_again_and_again_tells_how_often_and_what_all_of_it_held_back() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let held = scene.record("acme", "billing", Stage::Breaker, Outcome::BreakerOpen).await;
    scene.write_past(6, vec![held.clone(); 30]).await;
    scene.write_past(2, vec![held; 10]).await;
    for (seconds_ago, state) in
        [(360, "open"), (300, "closed"), (240, "open"), (200, "closed"), (119, "open")]
    {
        scene.event_of_billing(seconds_ago, state).await;
    }
    let said = scene.said(40).await.remove(0);
    assert!(said.starts_with("`billing` got nothing since "), "{said}");
    assert!(said.contains(" because its breaker is open (5 timeouts in 10 s); since "), "{said}");
    assert!(said.ends_with(" it opened 3 times, and 40 requests of 1 partner were held back."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_arrived_in_the_minute_before_the_breaker_opened_and_was_held_back_counts_too() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let held = scene.record("acme", "billing", Stage::Breaker, Outcome::BreakerOpen).await;
    scene.write_past(3, vec![held; 40]).await;
    // With the beginning of the next minute.
    scene.event_of_billing(120, "open").await;
    let said = scene.said(40).await.remove(0);
    assert!(said.ends_with("; 40 requests of 1 partner were held back."), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breaker_that_is_still_open_says_that_nobody_calls_any_more() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    scene.was_shut_and_held_back(40).await;
    let said = scene.said(40).await.remove(0);
    assert!(said.starts_with("`billing` has been shut off since "), "{said}");
    let (why, rest) =
        said.split_once(", and nobody has called it since ").unwrap_or_else(|| panic!("{said}"));
    assert!(why.ends_with(" by its breaker (5 timeouts in 10 s)"), "{said}");
    assert!(rest.ends_with("; 40 requests of 1 partner were held back until then."), "{said}");
    let acme = Who::Partner(scene.partner("acme").await);
    let mine = scene.verdicts(acme, 40).await.remove(0).text();
    assert!(mine.contains(", and you have not called it since "), "{mine}");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_whom_the_cache_serves_are_none_that_an_open_breaker_keeps_away() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    scene.was_shut_and_held_back(40).await;
    let hit = scene.record("acme", "billing", Stage::Cache, Outcome::CacheHit).await;
    scene.write_past(1, vec![hit; 10]).await;
    let said = scene.said(50).await.remove(0);
    assert!(said.contains("; 40 requests of 1 partner were held back, none since "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_ended_while_a_breaker_was_open_tells_when_it_closed() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    scene.was_shut_and_held_back(40).await;
    scene.event_of_billing(120, "closed").await;
    // Another one has begun since.
    scene.event_of_billing(60, "open").await;
    let now = OffsetDateTime::now_utc();
    let ago = |minutes| now - time::Duration::minutes(minutes);
    let window = Window::new(ago(15), ago(8)).unwrap();
    for who in [Who::Ops, Who::Partner(scene.partner("acme").await)] {
        let evidence = evidence::read(&scene.toll.db.pool, window, who).await.unwrap().evidence;
        let outage = evidence.upstreams.iter().find_map(|upstream| upstream.outage.clone()).unwrap();
        let lasted = outage.until.unwrap() - outage.since;
        assert_eq!((lasted.whole_seconds() + 1) / 60, 10, "{outage:?}");
        assert_eq!((outage.times, outage.held), (1, 40));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breaker_that_an_operator_opened_is_not_said_to_recover() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let db = &scene.toll.db.pool;
    let breaker = "select upstream_id, generation from breaker join upstream on id = upstream_id where name = 'billing'";
    let (upstream, generation): (i64, i64) = sqlx::query_as(breaker).fetch_one(db).await.unwrap();
    let hold = Hand::Open(time::Duration::HOUR);
    assert!(by_hand(db, upstream, generation, hold, "ada@example.com").await.unwrap());
    let held = scene.record("acme", "billing", Stage::Breaker, Outcome::BreakerOpen).await;
    scene.write_past(1, vec![held; 20]).await;
    let acme = Who::Partner(scene.partner("acme").await);
    let mine = scene.verdicts(acme, 20).await.remove(0).text();
    assert!(
        mine.ends_with(": 20 of your requests were held back by the operator. It is not your doing."),
        "{mine}"
    );
    let told = async || about(scene.evidence(acme, 20).await, "acme").remove(0).text();
    let held = told().await;
    assert!(held.starts_with("You alone can act: `billing` has been unavailable since "), "{held}");
    // Its time is over, and nobody has come since.
    sqlx::raw_sql("update breaker set opened_at = opened_at - interval '1 hour'").execute(db).await.unwrap();
    let over = told().await;
    assert!(over.starts_with("Nobody must act: `billing` was unavailable between "), "{over}");
    assert!(scene.said(20).await[0].starts_with("`billing` was shut off from "));
    // Once it fails by itself, that is so no more.
    let failed = "insert into breaker_event (upstream_id, state, generation, reason) values ($1, 'open', 9, '5 timeouts')";
    sqlx::query(failed).bind(upstream).execute(db).await.unwrap();
    let mine = scene.verdicts(acme, 20).await.remove(0).text();
    assert!(mine.contains("held back, by the operator or to let it recover."), "{mine}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_takes_longer_than_before_is_slow() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let answered = scene.record("acme", "billing", Stage::Proxy, Outcome::Forwarded).await;
    for (minutes_ago, duration_us) in [(24, 4_000), (3, 900_000)] {
        let stage_us = [0, 0, 0, 0, 0, duration_us];
        scene.write_past(minutes_ago, vec![Record { duration_us, stage_us, ..answered.clone() }; 60]).await;
    }
    assert_eq!(
        scene.said(60).await[0],
        "`billing` has slowed down: 95 % of its answers took up to 1 s, in the 15 minutes before up to 5 ms."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_whose_callers_do_not_wait_for_it_is_named() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let mut left = scene.record("acme", "billing", Stage::Proxy, Outcome::ClientGone).await;
    let mut end = left.end.unwrap();
    (end.status, end.upstream_status) = (499, 0);
    left.end = Some(end);
    scene.write_past(3, vec![left; 60]).await;
    assert_eq!(
        scene.said(60).await[0],
        "`billing` was not waited for: of 60 requests that reached it, 60 were given up by their callers before it had \
         answered."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn arrivals_that_fall_to_next_to_nothing_are_told() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    scene.had_before(ALONE, "billing", 240).await;
    scene.in_turn(0, "/api/billing", 3).await;
    assert_eq!(scene.said(3).await, ["Arrivals fell from 240 in the 15 minutes before to 3."]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_upstream_answered_is_the_same_minute_by_minute_and_over_the_window() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    let record = scene.record("acme", "billing", Stage::Proxy, Outcome::Forwarded).await;
    let mut records = Vec::new();
    for stage in Stage::ALL {
        for &outcome in Outcome::ALL.iter().filter(|outcome| outcome.belongs_to(stage)) {
            // Of each kind another number, so that none stands for another.
            for (reached, upstream_status) in [(false, 0), (true, 0), (true, 200), (true, 503)] {
                let end = End { stage, outcome, status: 200, reached, upstream_status };
                let of_kind = Record { end: Some(end), ..record.clone() };
                let kinds = records.last().map_or(0, |(_, kinds)| *kinds);
                if !reached || stage == Stage::Proxy {
                    records.extend(std::iter::repeat_n((of_kind, kinds + 1), kinds + 1));
                }
            }
        }
    }
    let requests = records.len() as u64;
    scene.write_past(6, records.into_iter().map(|(record, _)| record).collect()).await;
    for who in [Who::Ops, Who::Partner(scene.partner("acme").await)] {
        let evidence = scene.evidence(who, requests).await;
        let mut by_minute = Answers::default();
        let billing = evidence.routes.iter().find(|route| route.name == "billing").unwrap();
        billing.slots.iter().for_each(|slot| by_minute.merge(&slot.answers));
        assert!(by_minute.faults() > 0 && by_minute.held > 0);
        assert_eq!(by_minute, evidence.asked_of("billing").now.answers(), "{who:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_who_look_at_once_wait_for_connections_and_not_for_each_other() {
    let scene = scene(&Origin::ok().await, AMPLE, PATIENT, ALONE).await;
    scene.had_before(ALONE, "orders", 40).await;
    let options = (*scene.toll.db.pool.connect_options()).clone();
    let one = PgPoolOptions::new().max_connections(1).connect_with(options).await.unwrap();
    let window = Window::last(time::Duration::HOUR, OffsetDateTime::now_utc());
    let looks = join_all((0..8).map(|_| evidence::read(&one, window, Who::Ops))).await;
    assert!(looks.into_iter().all(|look| look.unwrap().totals.funnel().arrived == 40));
}
