use super::*;
use time::macros::datetime;

use crate::domain::verdict::evidence::{EndedKey, Ending, Grown, Habit};
use crate::domain::verdict::examples::{HASTY, hour, route, served, texts, upstream};
use crate::domain::verdict::verdicts;

fn suspect(slug: &str, early: u64, spent: u64) -> Suspect {
    Suspect {
        slug: slug.into(),
        early: Compared { now: early, before: 0 },
        spent,
        passed: 600,
        habit: Some(HASTY),
        ..Suspect::default()
    }
}

fn grown(partners: u64, now: u64, before: u64) -> Vec<Grown> {
    let one = |n| Grown { slug: format!("partner-{n}"), passed: Compared { now, before } };
    (0..partners).map(one).collect()
}

/// The rise of the brief: 870 arrivals an hour before, then one partner in a loop.
fn spike(partners: Vec<Suspect>, others: u64) -> Evidence {
    let sum = |part: fn(&Suspect) -> u64| partners.iter().map(part).sum();
    let (early, spent): (u64, u64) = (sum(|p| p.early.now), sum(|p| p.spent));
    let now = Tally {
        arrived: 870 + early + spent + others,
        early,
        spent,
        cached: 270 + others,
        reached: 600,
        ..Tally::default()
    };
    let before = Tally { arrived: 870, cached: 270, reached: 600, ..Tally::default() };
    Evidence { all: Compared { now, before }, suspects: partners, ..hour() }
}

#[test]
fn a_rise_by_a_retry_loop_names_who_loops() {
    let evidence = spike(vec![suspect("acme", 4_120, 280)], 124);
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(
        verdict.text(),
        "Arrivals are 6.2 times the hour before. 91 % of the rise is `acme` retrying its own 429: 4,120 of its \
         4,400 refusals came before the `Retry-After` it was given. Reached the upstream: unchanged."
    );
    assert_eq!((verdict.rule, verdict.tone), (Rule::Loud, Tone::Alarm));
    assert!(
        verdict.href.ends_with("&stage=quota&outcome=quota_early_retry&partner=acme"),
        "{}",
        verdict.href
    );
}

#[test]
fn a_rise_that_is_real_names_the_route_that_carries_it_and_nobody() {
    let now = Tally { arrived: 6_800, reached: 6_528, spent: 272, ..Tally::default() };
    let evidence = Evidence {
        all: Compared { now, before: served(3_400) },
        grown: grown(34, 192, 100),
        routes: vec![
            route("orders", served(5_000), served(2_000)),
            route("search", served(1_528), served(1_400)),
        ],
        ..hour()
    };
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(
        verdict.text(),
        "Arrivals doubled across 34 partners; 96 % passed quota; `orders` carries it."
    );
    assert_eq!(verdict.tone, Tone::Notice);
}

#[test]
fn mixed_causes_stand_in_the_order_of_their_share() {
    let mut evidence = spike(vec![suspect("acme", 1_000, 20), suspect("beta", 2_000, 30)], 950);
    evidence.grown = grown(3, 400, 80);
    assert_eq!(
        texts(&evidence),
        [
            "Arrivals are 5.6 times the hour before. 50 % of the rise is `beta` retrying its own 429: 2,000 of its 2,030 \
         refusals came before the `Retry-After` it was given; 25 % is `acme` retrying its own 429: 1,000 of its 1,020 \
         refusals came before the `Retry-After` it was given; 24 % is traffic that passed quota, across 3 partners. \
         Reached the upstream: unchanged."
        ]
    );
}

#[test]
fn a_loop_that_is_the_smaller_part_of_a_rise_needs_somebody_all_the_same() {
    let tone = |until| {
        let mut evidence = spike(vec![suspect("acme", 1_000, 20)], 3_000);
        evidence.suspects[0].until = until;
        verdicts(&evidence).remove(0).tone
    };
    assert_eq!(tone(None), Tone::Alarm);
    assert_eq!(tone(Some(datetime!(2026-01-01 14:40 UTC))), Tone::Notice);
}

#[test]
fn a_burst_of_first_attempts_accuses_nobody() {
    let said = texts(&spike(vec![suspect("acme", 0, 4_400)], 0));
    assert_eq!(
        said,
        [
            "Arrivals are 6.1 times the hour before. 100 % of the rise went beyond a quota: first attempts, not retries. Reached the upstream: unchanged."
        ]
    );
}

#[test]
fn callers_without_a_key_are_told_apart_from_partners() {
    let mut evidence = spike(Vec::new(), 0);
    (evidence.all.now.arrived, evidence.all.now.unidentified) = (2_870, 2_000);
    assert_eq!(
        texts(&evidence),
        ["Arrivals are 3.3 times the hour before. 100 % of the rise had no valid key or no route. \
         Reached the upstream: unchanged."]
    );
}

#[test]
fn nineteen_early_retries_accuse_nobody_and_twenty_do() {
    let quiet = |early| {
        let mut evidence = spike(vec![suspect("acme", early, 1)], 0);
        evidence.all.before = evidence.all.now;
        texts(&evidence)
    };
    assert!(quiet(LEAST_EARLY - 1).is_empty());
    assert_eq!(
        quiet(LEAST_EARLY),
        [
            "`acme` is retrying its own 429: 20 of its 21 refusals came before the `Retry-After` it was given, 2 % of all \
         arrivals."
        ]
    );
}

#[test]
fn half_of_the_refusals_must_be_retries() {
    let names = |early, spent| texts(&spike(vec![suspect("acme", early, spent)], 0))[0].contains("`acme`");
    assert!(names(500, 500) && !names(500, 501));
}

#[test]
fn who_keeps_three_quarters_of_the_wait_is_impatient_and_no_loop() {
    let names = |waited_ms| {
        let habit = Some(Habit { waited_ms, asked_ms: 1_000, ..HASTY });
        texts(&spike(vec![Suspect { habit, ..suspect("acme", 500, 10) }], 0))[0].contains("`acme`")
    };
    assert!(names(80) && names(749) && !names(750) && !names(990));
}

#[test]
fn a_job_that_goes_on_with_the_next_item_retries_nothing() {
    let names = |habit| {
        texts(&spike(vec![Suspect { habit, ..suspect("initech", 500, 10) }], 0))[0].contains("`initech`")
    };
    let of = |repeated| Some(Habit { repeated, ..HASTY });
    assert!(names(of(100)) && !names(of(99)) && !names(of(0)));
    assert!(!names(None), "the log does not show it");
}

#[test]
fn who_was_failed_by_an_upstream_retries_for_a_reason() {
    let names =
        |faults| texts(&spike(vec![Suspect { faults, ..suspect("acme", 500, 10) }], 0))[0].contains("`acme`");
    assert!(names(0) && names(299) && !names(300));
}

#[test]
fn a_rise_is_half_as_much_again_fifty_more_and_over_something() {
    let is = |now, before| is_rise(Compared { now, before });
    assert!(is(150, 100) && !is(149, 100), "by half");
    assert!(is(80, 30) && !is(79, 30), "by fifty");
    assert!(!is(5_000, 29) && !is(5_000, 0), "over thirty");
    assert!(!is(100, 200));
}

#[test]
fn books_that_begin_in_the_window_before_make_no_rise() {
    // As many a minute all the time.
    let steady = |arrived, begun| {
        let all = Compared { now: served(600), before: served(arrived) };
        rose(&Evidence { begun: Some(begun), all, ..hour() })
    };
    assert!(!steady(300, datetime!(2026-01-01 13:30 UTC)));
    assert!(!steady(400, datetime!(2026-01-01 13:20 UTC)));
    assert!(steady(400, datetime!(2026-01-01 12:50 UTC)), "they tell of all of it");
    assert!(steady(190, datetime!(2026-01-01 13:30 UTC)), "by more than half, a minute");
}

#[test]
fn a_loop_that_nothing_compares_to_is_named_without_a_ratio() {
    let mut evidence = spike(vec![suspect("hasty", 1_800, 30)], 0);
    evidence.all.before = Tally::default();
    assert_eq!(
        texts(&evidence),
        [
            "`hasty` is retrying its own 429: 1,800 of its 1,830 refusals came before the `Retry-After` it was given, \
         67 % of all arrivals."
        ]
    );
}

#[test]
fn a_loop_below_one_per_cent_of_arrivals_is_not_loud() {
    let mut evidence = spike(vec![suspect("hasty", 99, 1)], 9_000);
    evidence.all.before = evidence.all.now;
    evidence.all.now.arrived = 9_901;
    assert!(texts(&evidence).is_empty());
    evidence.all.now.arrived = 9_900;
    assert_eq!(texts(&evidence).len(), 1);
}

#[test]
fn an_old_loop_is_not_the_cause_of_a_new_rise() {
    let mut hasty = suspect("hasty", 400, 10);
    hasty.early.before = 400;
    let mut evidence = spike(vec![hasty], 2_000);
    evidence.all.before.early = 400;
    evidence.all.before.spent = 10;
    evidence.all.before.arrived += 410;
    let said = texts(&evidence);
    assert_eq!(
        said[0].split(';').next(),
        Some(
            "`hasty` is retrying its own 429: 400 of its 410 refusals came before the \
         `Retry-After` it was given, 12 % of all arrivals."
        )
    );
    assert_eq!(said[1], "Arrivals are 2.6 times the hour before; 88 % passed quota.");
}

#[test]
fn of_many_loops_three_are_named_and_the_rest_is_counted() {
    let loops = ["a", "b", "c", "d", "e"].map(|slug| suspect(slug, 1_000, 10));
    let said = texts(&spike(loops.to_vec(), 0)).remove(0);
    assert!(said.contains("`c` retrying") && !said.contains("`d`"), "{said}");
    assert!(said.contains("; 2 partners more do the same. Reached"), "{said}");
}

#[test]
fn growth_of_one_partner_is_not_called_growth_of_many() {
    let mut evidence = Evidence { all: Compared { now: served(900), before: served(300) }, ..hour() };
    evidence.grown = grown(1, 700, 110);
    evidence.grown.extend(grown(5, 41, 38));
    assert_eq!(
        texts(&evidence),
        ["Arrivals tripled, most of the rise from `partner-0`; 100 % passed quota."]
    );
}

#[test]
fn a_loop_that_has_ended_is_told_in_the_past_five_minutes_after() {
    let until = |at| {
        let mut evidence = spike(vec![Suspect { until: Some(at), ..suspect("acme", 1_800, 30) }], 0);
        evidence.all.before = evidence.all.now;
        let verdict = verdicts(&evidence).remove(0);
        (verdict.text(), verdict.tone)
    };
    // The present is 14:50:30.
    assert!(until(datetime!(2026-01-01 14:46 UTC)).0.starts_with("`acme` is retrying its own 429: 1,800"));
    assert_eq!(
        until(datetime!(2026-01-01 14:45 UTC)),
        (
            "`acme` was retrying its own 429 until 14:45: 1,800 of its 1,830 refusals came before the `Retry-After` it was \
             given, 67 % of all arrivals."
                .into(),
            Tone::Notice
        )
    );
    let mut rise = spike(vec![suspect("acme", 4_120, 280)], 0);
    rise.suspects[0].until = Some(datetime!(2026-01-01 14:40 UTC));
    let verdict = verdicts(&rise).remove(0);
    assert!(
        verdict.text().contains(" is `acme` retrying its own 429 until 14:40: 4,120 of"),
        "{}",
        verdict.text()
    );
    assert_eq!(verdict.tone, Tone::Notice);
}

#[test]
fn a_fall_to_a_tenth_of_two_hundred_and_more_is_told_once_the_window_is_over() {
    let of = |before, now| {
        let all = Compared { now: served(now), before: served(before) };
        texts(&Evidence { all, until: hour().window.to - Duration::MINUTE, ..hour() })
    };
    assert_eq!(of(600, 3), ["Arrivals fell from 600 in the hour before to 3."]);
    assert_eq!(of(200, 20).len(), 1);
    assert!(of(199, 0).is_empty() && of(200, 21).is_empty());
    let all = Compared { now: served(3), before: served(600) };
    assert!(texts(&Evidence { all, ..hour() }).is_empty(), "ten minutes are to come");
}

#[test]
fn what_a_breaker_held_back_is_no_growth_and_its_upstream_is_named() {
    let now = Tally { arrived: 860, held: 800, reached: 60, ..Tally::default() };
    let mut evidence = Evidence {
        all: Compared { now, before: served(60) },
        routes: vec![route("billing", now, served(60))],
        upstreams: vec![upstream("billing", None), upstream("orders", None)],
        ..hour()
    };
    let verdict = verdicts(&evidence).remove(0);
    assert_eq!(
        verdict.text(),
        "Arrivals are 14 times the hour before. 100 % of the rise was held back by the breaker of `billing`. Reached the \
         upstream: unchanged."
    );
    assert!(verdict.href.ends_with("&stage=breaker"), "{}", verdict.href);
    // 89 % are not nearly all.
    let elsewhere = Tally { arrived: 88, held: 88, ..Tally::default() };
    evidence.routes[0].tally.now = Tally { arrived: 772, held: 712, reached: 60, ..Tally::default() };
    evidence.routes.push(route("orders", elsewhere, Tally::default()));
    assert!(texts(&evidence)[0].contains("was held back by breakers."), "{:?}", texts(&evidence));
}

#[test]
fn a_rise_of_calls_with_ended_keys_names_whose_nearly_all_of_them_are() {
    let of = |calls: u64| {
        let key = |id, partner: &str, calls| EndedKey {
            id,
            partner: partner.into(),
            ended: Ending::Revoked,
            ended_at: hour().window.from,
            calls,
            by_minute: vec![calls],
        };
        let now = Tally { arrived: 600, unidentified: 500, ended_key: 500, reached: 100, ..Tally::default() };
        let ended_keys = vec![key(1, "acme", calls - 40), key(2, "acme", 40), key(3, "globex", 500 - calls)];
        verdicts(&Evidence { all: Compared { now, before: served(100) }, ended_keys, ..hour() }).remove(0)
    };
    assert!(of(450).href.ends_with("&stage=key&partner=acme"), "{}", of(450).href);
    assert_eq!(
        of(450).text(),
        "Arrivals are 6 times the hour before. 100 % of the rise is `acme` calling with a key that has ended. Reached the \
         upstream: unchanged."
    );
    assert!(of(449).text().contains("100 % of the rise had a key that has ended."), "{}", of(449).text());
    assert!(of(449).href.ends_with("&stage=key"), "{}", of(449).href);
}

#[test]
fn what_goes_beyond_quotas_is_told_from_fifty_and_a_fifth_on_and_names_nobody() {
    let said = |spent, arrived, suspects| {
        let all = Tally { arrived, spent, reached: arrived - spent, ..Tally::default() };
        texts(&Evidence { all: Compared { now: all, before: all }, suspects, ..hour() })
    };
    assert!(said(49, 49, Vec::new()).is_empty() && said(199, 1_000, Vec::new()).is_empty());
    assert_eq!(said(50, 50, Vec::new()), ["100 % of arrivals went beyond a quota: 50 of 50."]);
    assert_eq!(said(200, 1_000, Vec::new()), ["20 % of arrivals went beyond a quota: 200 of 1,000."]);
    let fleet = Suspect { habit: Some(Habit { callers: 2, ..HASTY }), ..suspect("fleet", 150, 50) };
    assert_eq!(said(200, 1_000, vec![fleet]), ["20 % of arrivals went beyond a quota: 200 of 1,000."]);
    let hasty = suspect("hasty", 150, 50);
    let both = said(500, 1_000, vec![Suspect { early: Compared { now: 150, before: 150 }, ..hasty }]);
    assert_eq!(both[1], "30 % of arrivals went beyond the quotas of others: 300 of 1,000.");
}
