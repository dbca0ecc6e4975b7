//! Where did the requests go: the subtraction from arrivals to the upstream.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::histogram::{BOUNDS_MS, Histogram, Percentile};
use super::outcome::Outcome;
use super::stage::Stage;
use super::total::Total;
use super::window::Window;

/// Requests that ended alike, as a rollup knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    pub stage: Stage,
    pub outcome: Outcome,
    /// Whether the request was handed to the upstream.
    pub reached: bool,
    /// First digit of the upstream's status, 0 where it gave none; meaningful where `reached`.
    pub upstream_class: u8,
    pub requests: u64,
}

/// What the door knows, by other code than the outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    pub arrived: u64,
    pub in_flight: u64,
}

/// Everything a funnel is computed from.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    pub lines: Vec<Line>,
    /// Absent where the door cannot know: for one partner or one route.
    pub door: Option<Door>,
    pub upstream_calls: u64,
    pub metered_locally: u64,
    pub latency: Histogram,
}

impl Counts {
    /// Of one partner, of one route, or what no door is asked about.
    pub fn of<'a>(totals: impl IntoIterator<Item = &'a Total>) -> Counts {
        let mut counts = Counts::default();
        for total in totals {
            if total.line.requests > 0 {
                counts.lines.push(total.line);
            }
            counts.upstream_calls += total.upstream_calls;
            counts.metered_locally += total.metered_locally;
            counts.latency.add(&total.latency);
        }
        counts
    }
}

/// The funnel of the contract, as `toll funnel --json` prints it and as the screens read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Funnel {
    #[serde(with = "time::serde::rfc3339")]
    pub from: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339")]
    pub to: OffsetDateTime,
    pub arrived: u64,
    pub in_flight: Option<u64>,
    /// What is missing from arrived = Σ stopped + reached + in flight. Negative: more left than came.
    pub unaccounted: Option<i64>,
    pub stages: Vec<StageLine>,
    pub reached_upstream: u64,
    /// How the requests that reached the upstream ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reached_outcomes: BTreeMap<String, u64>,
    /// Of the requests that reached the upstream, by the class of its answer.
    pub statuses: Statuses,
    pub upstream_calls: u64,
    pub metered_locally: u64,
    pub latency: Latency,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageLine {
    pub stage: Stage,
    pub entered: u64,
    pub stopped: u64,
    pub passed: u64,
    /// How requests ended here. At the proxy stage this names those that reached the upstream too.
    pub outcomes: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statuses {
    #[serde(rename = "1xx", default, skip_serializing_if = "is_zero")]
    pub informational: u64,
    #[serde(rename = "2xx")]
    pub success: u64,
    #[serde(rename = "3xx")]
    pub redirection: u64,
    #[serde(rename = "4xx")]
    pub client_error: u64,
    #[serde(rename = "5xx")]
    pub server_error: u64,
    /// The upstream was reached and gave no status: timed out, broke off, or the client left first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub no_answer: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    pub bounds_ms: Vec<u32>,
    pub counts: [u64; 9],
    pub p50: Option<Percentile>,
    pub p95: Option<Percentile>,
    pub p99: Option<Percentile>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Funnel {
    pub fn new(window: Window, counts: &Counts) -> Funnel {
        let settled: u64 = counts.lines.iter().map(|line| line.requests).sum();
        let mut entered = settled;
        let mut stages = Vec::with_capacity(Stage::ALL.len());
        let mut reached_outcomes = BTreeMap::new();
        for stage in Stage::ALL {
            let here = counts.lines.iter().filter(|line| line.stage == stage);
            let mut outcomes = BTreeMap::new();
            let mut stopped = 0;
            for line in here {
                *outcomes.entry(line.outcome.name().to_owned()).or_default() += line.requests;
                match line.reached {
                    true => {
                        *reached_outcomes.entry(line.outcome.name().to_owned()).or_default() += line.requests
                    }
                    false => stopped += line.requests,
                }
            }
            stages.push(StageLine { stage, entered, stopped, passed: entered - stopped, outcomes });
            entered -= stopped;
        }
        let arrived = counts.door.map_or(settled, |door| door.arrived);
        Funnel {
            from: window.from,
            to: window.to,
            arrived,
            in_flight: counts.door.map(|door| door.in_flight),
            unaccounted: counts.door.map(|door| door.arrived as i64 - settled as i64 - door.in_flight as i64),
            stages,
            reached_upstream: entered,
            reached_outcomes,
            statuses: Statuses::of(&counts.lines),
            upstream_calls: counts.upstream_calls,
            metered_locally: counts.metered_locally,
            latency: Latency::of(&counts.latency),
        }
    }

    pub fn window(&self) -> Window {
        Window { from: self.from, to: self.to }
    }

    /// How requests ended that `stage` stopped. Unlike `outcomes` of its line, this leaves out what reached the upstream.
    pub fn stopped_by(&self, stage: Stage) -> BTreeMap<&str, u64> {
        let passed = |name: &str| match stage {
            Stage::Proxy => self.reached_outcomes.get(name).copied().unwrap_or(0),
            _ => 0,
        };
        let all = self.stage(stage).outcomes.iter();
        all.map(|(name, count)| (name.as_str(), count - passed(name)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    pub fn stage(&self, stage: Stage) -> &StageLine {
        &self.stages[stage.index()]
    }

    /// Requests that ended, whatever the outcome.
    pub fn settled(&self) -> u64 {
        self.stages.iter().map(|line| line.stopped).sum::<u64>() + self.reached_upstream
    }
}

impl Statuses {
    fn of(lines: &[Line]) -> Statuses {
        let mut statuses = Statuses::default();
        for line in lines.iter().filter(|line| line.reached) {
            let slot = match line.upstream_class {
                1 => &mut statuses.informational,
                2 => &mut statuses.success,
                3 => &mut statuses.redirection,
                4 => &mut statuses.client_error,
                5 => &mut statuses.server_error,
                _ => &mut statuses.no_answer,
            };
            *slot += line.requests;
        }
        statuses
    }
}

impl Latency {
    pub fn of(histogram: &Histogram) -> Latency {
        Latency {
            bounds_ms: BOUNDS_MS.to_vec(),
            counts: histogram.counts,
            p50: histogram.percentile(0.50),
            p95: histogram.percentile(0.95),
            p99: histogram.percentile(0.99),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    fn window() -> Window {
        Window::new(datetime!(2026-01-01 10:00 UTC), datetime!(2026-01-01 11:00 UTC)).expect("forward")
    }

    /// Any way in which a request can really end.
    pub fn any_line() -> impl Strategy<Value = Line> {
        let ends: Vec<(Stage, Outcome)> = Stage::ALL
            .into_iter()
            .flat_map(|s| Outcome::ALL.iter().copied().filter(move |o| o.belongs_to(s)).map(move |o| (s, o)))
            .collect();
        (proptest::sample::select(ends), any::<bool>(), 0u8..6, 1u64..1000).prop_map(
            |((stage, outcome), reached, upstream_class, requests)| Line {
                stage,
                outcome,
                reached: reached && stage == Stage::Proxy,
                upstream_class,
                requests,
            },
        )
    }

    proptest! {
        #[test]
        fn any_sequence_of_outcomes_adds_up_from_top_to_bottom(
            lines in proptest::collection::vec(any_line(), 0..80),
            in_flight in 0u64..50,
        ) {
            let settled: u64 = lines.iter().map(|l| l.requests).sum();
            let reached: u64 = lines.iter().filter(|l| l.reached).map(|l| l.requests).sum();
            let door = Some(Door { arrived: settled + in_flight, in_flight });
            let funnel = Funnel::new(window(), &Counts { lines, door, ..Counts::default() });

            let mut expected = settled;
            for line in &funnel.stages {
                prop_assert_eq!(line.entered, expected);
                prop_assert_eq!(line.entered - line.stopped, line.passed);
                expected = line.passed;
            }
            let stopped: u64 = funnel.stages.iter().map(|l| l.stopped).sum();
            prop_assert_eq!(funnel.reached_upstream, reached);
            prop_assert_eq!(funnel.arrived, stopped + funnel.reached_upstream + in_flight);
            prop_assert_eq!(funnel.unaccounted, Some(0));
            let s = funnel.statuses;
            prop_assert_eq!(
                s.informational + s.success + s.redirection + s.client_error + s.server_error + s.no_answer,
                reached
            );
        }

        #[test]
        fn what_the_door_saw_and_no_outcome_names_is_unaccounted(lost in 1u64..100, doubled in 1u64..100) {
            let line = Line {
                stage: Stage::Key, outcome: Outcome::KeyMissing, reached: false, upstream_class: 0, requests: 500,
            };
            let with = |arrived| Funnel::new(window(), &Counts {
                lines: vec![line],
                door: Some(Door { arrived, in_flight: 0 }),
                ..Counts::default()
            });
            prop_assert_eq!(with(500 + lost).unaccounted, Some(lost as i64));
            prop_assert_eq!(with(500 - doubled).unaccounted, Some(-(doubled as i64)));
        }
    }

    #[test]
    fn for_one_partner_arrivals_are_the_sum_and_the_door_says_nothing() {
        let line = Line {
            stage: Stage::Proxy,
            outcome: Outcome::Forwarded,
            reached: true,
            upstream_class: 2,
            requests: 7,
        };
        let funnel = Funnel::new(window(), &Counts { lines: vec![line], ..Counts::default() });
        assert_eq!((funnel.arrived, funnel.in_flight, funnel.unaccounted), (7, None, None));
    }

    #[test]
    fn the_json_has_the_names_of_the_contract() {
        let funnel = Funnel::new(window(), &Counts::default());
        let json = serde_json::to_value(&funnel).expect("serialises");
        assert_eq!(json["from"], "2026-01-01T10:00:00Z");
        assert_eq!(json["stages"][0]["stage"], "route");
        assert_eq!(json["statuses"]["5xx"], 0);
        assert_eq!(json["latency"]["bounds_ms"][7], 5000);
        assert_eq!(json["latency"]["counts"].as_array().map(Vec::len), Some(9));
    }
}
