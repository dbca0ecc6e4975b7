use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use time::macros::datetime;

use super::*;
use crate::domain::verdict::examples::HASTY;

/// A bucket that gives a token every `token_ms`, and callers that find it empty when they begin.
struct Bucket {
    token_ms: u64,
    refusals: Vec<Refusal>,
}

/// When a caller came first, and when it comes after it was refused at `at` and asked to wait `asked`. Milliseconds.
type Caller<'a> = (u64, &'a dyn Fn(u64, u64) -> u64);

impl Bucket {
    fn of(token_ms: u64) -> Bucket {
        Bucket { token_ms, refusals: Vec::new() }
    }

    /// Callers of one request, as the quota stage judges them, for so long.
    fn asked_by(mut self, callers: &[Caller], for_ms: u64) -> Vec<Refusal> {
        let start = datetime!(2026-01-01 14:00 UTC);
        let (mut tokens, mut last): (u64, Option<(u64, u64)>) = (0, None);
        let mut next: Vec<u64> = callers.iter().map(|(first, _)| *first).collect();
        loop {
            let (caller, at) = next.iter().copied().enumerate().min_by_key(|(_, at)| *at).unwrap();
            if at >= for_ms {
                return self.refusals;
            }
            if at / self.token_ms > tokens {
                tokens += 1;
                next[caller] = at + 50;
                continue;
            }
            let left = self.token_ms - at % self.token_ms;
            let asked_ms = left.div_ceil(1_000) * 1_000;
            let waited_ms = last.filter(|(_, until)| at < *until).map(|(refused, _)| at - refused);
            let came = start + Duration::milliseconds(at as i64);
            self.refusals.push(Refusal {
                caller: 1,
                request: 1,
                at: came,
                answered_at: came + Duration::milliseconds(3),
                is_early: waited_ms.is_some(),
                asked_ms,
                waited_ms,
            });
            last = Some((at, at + asked_ms));
            next[caller] = callers[caller].1(at, asked_ms);
        }
    }
}

/// Each of the numbers in its turn, and from the first again.
fn next(numbers: &[u64], turn: &Cell<usize>) -> u64 {
    numbers[turn.replace(turn.get() + 1) % numbers.len()]
}

fn is_hasty(refusals: &[Refusal]) -> bool {
    Habit::of(refusals).unwrap().is_hasty()
}

#[test]
fn who_comes_back_without_waiting_is_hasty_whatever_its_pace() {
    let paces: [&dyn Fn(u64, u64) -> u64; 4] = [
        &|at, _| at + 10,
        &|at, _| at + 100,
        &|at, _| at + 50 + at * 7_919 % 350,
        // Longer each time, from a tenth of a second to three.
        &|at, _| at + 100 * (1 << (at / 1_000).min(5)),
    ];
    for (n, pace) in paces.into_iter().enumerate() {
        assert!(is_hasty(&Bucket::of(10_000).asked_by(&[(0, pace)], 30_000)), "{n}");
    }
    assert!(
        is_hasty(&Bucket::of(1_000).asked_by(&[(0, paces[1])], 20_000)),
        "ten in a second that was to be waited"
    );
}

#[test]
fn several_hasty_callers_are_hasty_and_a_crowd() {
    let returns = |at: u64, _: u64| at + 100;
    let callers: Vec<Caller> = (0..10).map(|n| (n, &returns as _)).collect();
    let habit = Habit::of(&Bucket::of(5_000).asked_by(&callers, 12_000)).unwrap();
    assert!(habit.is_hasty() && habit.is_crowd, "{habit:?}");
}

#[test]
fn a_tenth_of_overlapping_refusals_is_a_crowd_and_a_single_one_never() {
    let mut refusals = Bucket::of(60_000).asked_by(&[(0, &|at, _| at + 100)], 1_101);
    assert_eq!(refusals.len(), 12);
    let mut is_crowd = |overlapping: usize| {
        refusals.iter_mut().take(overlapping).for_each(|r| r.answered_at = r.at + Duration::SECOND);
        Habit::of(&refusals).unwrap().is_crowd
    };
    assert!(!is_crowd(0) && !is_crowd(1) && is_crowd(2), "of eleven");
    let mut single = refusals[0];
    single.is_early = true;
    assert!(!Habit::of(&[single]).unwrap().is_crowd);
}

#[test]
fn callers_that_wait_are_not_hasty_however_many_share_a_request() {
    let waits = |at: u64, asked: u64| at + asked + 15;
    for (token_ms, callers) in [
        (1_000, 2),
        (1_000, 4),
        (1_000, 10),
        (5_000, 4),
        (5_000, 10),
        (5_000, 20),
        (500, 20),
        (200, 60),
        (200, 100),
    ] {
        let callers: Vec<Caller> = (0..callers).map(|n| (n * 7_919 % 3_000, &waits as _)).collect();
        let refusals = Bucket::of(token_ms).asked_by(&callers, 30_000);
        let Some(habit) = Habit::of(&refusals) else { continue };
        assert!(!habit.is_hasty(), "{token_ms} {}: {habit:?}", callers.len());
    }
}

#[test]
fn thirty_callers_that_wait_and_come_in_turn_are_not_believed_in_nor_a_hundred_and_twenty_at_once() {
    let of = |callers, is_in_turn| {
        Habit { callers, unbidden: 0, is_steady: false, is_in_turn, ..HASTY }.is_hasty()
    };
    assert!(of(MANY, true) && !of(MANY - 1, true));
    assert!(of(MANY_AT_ONCE, false) && !of(MANY_AT_ONCE - 1, false));
}

#[test]
fn five_are_not_if_they_come_at_one_pace() {
    let of = |callers| Habit { callers, unbidden: 0, ..HASTY }.is_hasty();
    assert!(of(FEW) && !of(FEW - 1));
}

proptest! {
    #[test]
    fn a_loop_with_a_pace_of_its_own_is_hasty(
        token_ms in select(vec![500u64, 1_000, 2_000, 5_000]),
        pace in 40u64..120,
        jitter in vec(60u64..140, 97),
    ) {
        let turn = Cell::new(0);
        let returns = |at: u64, _: u64| at + pace * next(&jitter, &turn) / 100;
        prop_assert!(is_hasty(&Bucket::of(token_ms).asked_by(&[(0, &returns)], 40_000)));
    }

    #[test]
    fn a_few_callers_that_wait_each_by_its_own_clock_are_not_hasty(
        token_ms in select(vec![500u64, 1_000, 2_000, 5_000]),
        firsts in vec(0u64..2_000, 2..12),
        latest in 20u64..300,
        lateness in vec(0u64..100, 97),
    ) {
        let turn = Cell::new(0);
        let waits = |at: u64, asked: u64| at + asked + latest * next(&lateness, &turn) / 100;
        let callers: Vec<Caller> = firsts.iter().map(|first| (*first, &waits as _)).collect();
        let habit = Habit::of(&Bucket::of(token_ms).asked_by(&callers, 40_000));
        prop_assert!(!habit.is_some_and(|habit| habit.is_hasty()), "{habit:?}");
    }
}

#[test]
fn dozens_are_not_if_three_quarters_come_when_no_wait_has_ended_and_eight_if_all_but_a_twentieth_do() {
    let of =
        |callers, unbidden| Habit { callers, unbidden, repeated: 200, is_steady: false, ..HASTY }.is_hasty();
    assert!(of(DOZENS, 150) && !of(DOZENS, 149) && !of(DOZENS - 1, 150));
    assert!(of(SOME, 190) && !of(SOME, 189) && !of(SOME - 1, 200));
}

#[test]
fn devices_that_look_every_ten_seconds_are_not_hasty_though_they_share_a_request() {
    let returns = |at: u64, _: u64| at + 10_000;
    for token_ms in [5_000, 10_000] {
        for devices in 9..40 {
            for step in [7_919, 6_101, 3_571] {
                let callers: Vec<Caller> =
                    (0..devices).map(|n| (n * n * step % 10_007, &returns as _)).collect();
                let habit = Habit::of(&Bucket::of(token_ms).asked_by(&callers, 60_000));
                assert!(!habit.is_some_and(|habit| habit.is_hasty()), "{devices} {step}: {habit:?}");
            }
        }
    }
}

#[test]
fn who_is_answered_a_moment_before_the_gateway_is_done_still_comes_one_after_the_other() {
    let mut refusals = Bucket::of(60_000).asked_by(&[(0, &|at, _| at + 100)], 10_100);
    assert_eq!(refusals.len(), 101);
    let mut is_steady = |overlapping: usize| {
        refusals.iter_mut().take(overlapping).for_each(|r| r.answered_at = r.at + Duration::SECOND);
        Habit::of(&refusals).unwrap().is_steady
    };
    assert!(is_steady(2) && !is_steady(3));
}

#[test]
fn half_must_be_the_same_request_again() {
    let of = |repeated| Habit { repeated, ..HASTY }.is_hasty();
    assert!(of(100) && !of(99) && !of(0));
}

#[test]
fn who_keeps_three_quarters_of_the_wait_is_impatient_and_no_loop() {
    let of = |waited_ms| Habit { waited_ms, asked_ms: 1_000, ..HASTY }.is_hasty();
    assert!(of(80) && of(749) && !of(750) && !of(990));
}

#[test]
fn a_job_that_goes_on_with_the_next_item_repeats_nothing() {
    let mut refusals = Bucket::of(10_000).asked_by(&[(0, &|at, _| at + 30)], 10_000);
    refusals.iter_mut().enumerate().for_each(|(n, refusal)| refusal.request = n as i64);
    let habit = Habit::of(&refusals).unwrap();
    assert_eq!((habit.repeated, habit.is_hasty()), (0, false));
}

#[test]
fn what_the_gateway_had_not_refused_before_is_no_retry_though_its_path_is_the_same() {
    let mut refusals = Bucket::of(10_000).asked_by(&[(0, &|at, _| at + 30)], 10_000);
    refusals.iter_mut().for_each(|refusal| refusal.waited_ms = None);
    let habit = Habit::of(&refusals).unwrap();
    assert_eq!((habit.looked_at > 300, habit.repeated, habit.is_hasty()), (true, 0, false));
}

#[test]
fn without_an_early_retry_there_is_no_habit() {
    let refusals = Bucket::of(1_000).asked_by(&[(0, &|at, asked| at + asked + 15)], 20_000);
    assert!(refusals.len() > 10);
    assert_eq!(Habit::of(&refusals), None);
    assert_eq!(Habit::of(&[]), None);
}
