//! Whatever the numbers: nobody is accused of what they do not bear.

use proptest::prelude::*;

use super::evidence::{Compared, Evidence, Habit, Suspect, Tally, Who};
use super::examples::{HASTY, hour, texts};
use super::{LEAST_EARLY, verdicts};

fn any_tally(most: u64) -> impl Strategy<Value = Tally> {
    let n = 0..most;
    (n.clone(), n.clone(), n.clone(), n.clone(), n.clone(), n.clone(), n).prop_map(
        |(unidentified, spent, early, cached, held, unsent, reached)| Tally {
            arrived: unidentified + spent + early + cached + held + unsent + reached,
            unidentified,
            spent,
            early,
            cached,
            held,
            unsent,
            reached,
            ..Tally::default()
        },
    )
}

fn any_suspect(most_early: u64) -> impl Strategy<Value = Suspect> {
    let habit = proptest::option::of((0u64..20_000, 1u64..20_000, 0u64..=200));
    (0..5_000u64, 0..most_early, 0..5_000u64, 0..5_000u64, 0..100u64, habit).prop_map(
        |(spent, early, early_before, passed, faults, habit)| Suspect {
            slug: "accused".into(),
            spent,
            early: Compared { now: early, before: early_before },
            until: None,
            passed,
            faults: faults * passed / 100,
            habit: habit.map(|(waited_ms, asked_ms, repeated)| Habit {
                waited_ms,
                asked_ms,
                repeated,
                unbidden: repeated,
                looked_at: 200,
                ..HASTY
            }),
        },
    )
}

fn of(now: Tally, before: Tally, suspects: Vec<Suspect>) -> Evidence {
    let all = Compared {
        now: Tally {
            early: now.early + suspects.iter().map(|p| p.early.now).sum::<u64>(),
            spent: now.spent + suspects.iter().map(|p| p.spent).sum::<u64>(),
            arrived: now.arrived + suspects.iter().map(|p| p.early.now + p.spent).sum::<u64>(),
            ..now
        },
        before,
    };
    Evidence { all, suspects, ..hour() }
}

proptest! {
    #[test]
    fn fewer_early_retries_than_the_least_accuse_nobody(
        now in any_tally(5_000), before in any_tally(5_000), suspect in any_suspect(LEAST_EARLY),
    ) {
        let said = texts(&of(now, before, vec![suspect])).join(" ");
        prop_assert!(!said.contains("accused"), "{}", said);
    }

    #[test]
    fn a_partner_with_more_first_attempts_than_retries_is_not_accused(
        now in any_tally(5_000), before in any_tally(5_000), mut suspect in any_suspect(5_000), more in 1u64..5_000,
    ) {
        suspect.spent = suspect.early.now + more;
        let said = texts(&of(now, before, vec![suspect])).join(" ");
        prop_assert!(!said.contains("accused"), "{}", said);
    }

    #[test]
    fn a_partner_that_an_upstream_failed_is_not_accused(
        now in any_tally(5_000), before in any_tally(5_000), mut suspect in any_suspect(5_000), passed in 1u64..5_000,
    ) {
        (suspect.passed, suspect.faults) = (passed, passed.div_ceil(2));
        let said = texts(&of(now, before, vec![suspect])).join(" ");
        prop_assert!(!said.contains("accused"), "{}", said);
    }

    #[test]
    fn a_partner_that_repeats_nothing_is_not_accused(
        now in any_tally(5_000), before in any_tally(5_000), mut suspect in any_suspect(5_000), repeated in 0u64..100,
    ) {
        suspect.habit = suspect.habit.map(|habit| Habit { repeated, ..habit });
        let said = texts(&of(now, before, vec![suspect])).join(" ");
        prop_assert!(!said.contains("accused"), "{}", said);
    }

    #[test]
    fn a_window_before_with_next_to_nothing_compares_to_nothing(
        now in any_tally(5_000), before in any_tally(5),
    ) {
        prop_assume!(before.arrived < 30);
        let said = texts(&of(now, before, Vec::new())).join(" ");
        prop_assert!(!said.contains("before") && !said.contains("Arrivals"), "{}", said);
    }

    #[test]
    fn small_random_traffic_rings_no_alarm(now in any_tally(10), before in any_tally(10), suspect in any_suspect(10)) {
        for who in [Who::Ops, Who::Partner(1)] {
            let evidence = Evidence { who, ..of(now, before, vec![suspect.clone()]) };
            let alarms: Vec<_> =
                verdicts(&evidence).into_iter().filter(|v| v.tone == super::Tone::Alarm).collect();
            // A partner is told about ten early retries of its own; operators are not.
            let own = who != Who::Ops && evidence.all.now.early >= 10;
            prop_assert!(own || alarms.is_empty(), "{:?}", alarms);
        }
    }

    #[test]
    fn the_parts_of_a_rise_never_exceed_it(
        now in any_tally(50_000), before in any_tally(5_000), suspects in proptest::collection::vec(any_suspect(50_000), 0..5),
    ) {
        for text in texts(&of(now, before, suspects)) {
            let shares: u64 = text
                .split_once("of the rise")
                .map(|_| text.split(" %").filter_map(|piece| piece.rsplit(' ').next()?.parse::<u64>().ok()).sum())
                .unwrap_or(0);
            prop_assert!(shares <= 103, "{}", text);
        }
    }
}
