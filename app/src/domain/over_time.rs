//! Traffic of a window in equal steps, by the stage at which requests ended.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::moment::Dated;
use super::numbers::grouped;
use super::span::Span;
use super::stage::Stage;
use super::window::{Grain, Window};

/// Seconds a step may take: divisors of an hour or a day, so that steps lie on whole rollups.
const STEPS: [i64; 14] = [
    60,
    5 * 60,
    15 * 60,
    30 * 60,
    3_600,
    2 * 3_600,
    3 * 3_600,
    6 * 3_600,
    12 * 3_600,
    86_400,
    2 * 86_400,
    7 * 86_400,
    28 * 86_400,
    364 * 86_400,
];
/// More are not told apart on a screen, nor half as many where several charts share one.
pub const MOST: i64 = 120;
pub const MOST_OF_SEVERAL: i64 = 60;
/// Longer windows have steps of whole days: a month by the hour is thirty times as many rows to read.
const HOURS: Duration = Duration::days(8);

/// Counts by step. Steps lie on whole multiples of their length since the epoch, so the first and the last may stick out of
/// the window; only what is in the window is counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverTime {
    pub window: Window,
    /// With how much of a date its steps are told.
    pub dated: Dated,
    /// Seconds.
    pub step: i64,
    /// By stage, oldest step first. At the proxy: sent or not.
    pub points: Vec<[u64; 6]>,
}

/// The length of a step that fits a window `most` times at most, in seconds. Up to a length of `minutes` rows by minute may be
/// read for it.
pub fn step_for(window: Window, minutes: Duration, most: i64) -> i64 {
    let finest = match window.length() {
        length if length <= minutes => Grain::Minute,
        length if length <= HOURS => Grain::Hour,
        _ => Grain::Day,
    };
    let length = window.length().whole_seconds();
    let fits = |step: &i64| *step >= finest.seconds() && length <= step * most;
    STEPS.into_iter().find(fits).unwrap_or(STEPS[STEPS.len() - 1])
}

impl OverTime {
    /// Nothing yet.
    pub fn new(window: Window, step: i64) -> OverTime {
        let first = window.from.unix_timestamp().div_euclid(step);
        let last = (window.to.unix_timestamp() - 1).div_euclid(step);
        let dated = Dated::of_window(window, false);
        OverTime { window, dated, step, points: vec![[0; 6]; (last - first + 1) as usize] }
    }

    /// Adds requests that arrived at a time in the window.
    pub fn add(&mut self, at: OffsetDateTime, stage: Stage, requests: u64) {
        if let Some(point) = self.point_of(at) {
            self.points[point][stage.index()] += requests;
        }
    }

    /// The step in which a time lies.
    pub fn point_of(&self, at: OffsetDateTime) -> Option<usize> {
        let first = self.window.from.unix_timestamp().div_euclid(self.step);
        let point = usize::try_from(at.unix_timestamp().div_euclid(self.step) - first).ok()?;
        (point < self.points.len()).then_some(point)
    }

    /// Begin and end of a step, whole, in seconds since the epoch.
    pub fn whole(&self, point: usize) -> (i64, i64) {
        let from = (self.window.from.unix_timestamp().div_euclid(self.step) + point as i64) * self.step;
        (from, from + self.step)
    }

    /// The part of a step that is in the window.
    pub fn part(&self, point: usize) -> Window {
        let (from, to) = self.whole(point);
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
        Window { from: at(from).max(self.window.from), to: at(to).min(self.window.to) }
    }

    /// Requests a minute, so that steps of which only a part is in the window do not look like a drop.
    pub fn rate(&self, point: usize, stage: Stage) -> f64 {
        let minutes = self.part(point).length().as_seconds_f64() / 60.0;
        self.points[point][stage.index()] as f64 / minutes.max(1.0)
    }

    /// Requests a minute of the busiest step.
    pub fn highest(&self) -> f64 {
        let all = |point| Stage::ALL.map(|stage| self.rate(point, stage)).iter().sum();
        (0..self.points.len()).map(all).fold(0.0, f64::max)
    }

    /// Where an axis may end: a round number of requests a minute, above all steps.
    pub fn top(&self) -> f64 {
        let highest = self.highest().max(1.0);
        let ten = 10f64.powf(highest.log10().floor());
        let round = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].into_iter();
        round.map(|factor| factor * ten).find(|top| *top >= highest - 1e-9).unwrap_or(highest)
    }

    /// The end of the last step in which anything arrived.
    pub fn last_arrival(&self) -> Option<OffsetDateTime> {
        let last = self.points.iter().rposition(|point| point.iter().any(|requests| *requests > 0))?;
        Some(self.part(last).to)
    }

    /// Requests of a stage in all steps.
    pub fn total(&self, stage: Stage) -> u64 {
        self.points.iter().map(|point| point[stage.index()]).sum()
    }

    /// For a page with this span: a still tells the year.
    pub fn shown_in(self, span: Span) -> OverTime {
        OverTime { dated: span.dated(self.window), ..self }
    }

    /// When a step was: "14:03", with its date where the window asks for it.
    pub fn label(&self, point: usize) -> String {
        self.told(point, self.dated)
    }

    /// The same beside the axis, where there is little room: what all steps have in common the window's own words say.
    pub fn tick(&self, point: usize) -> String {
        let has_days = self.window.length().whole_hours() > 24;
        self.told(point, if has_days { Dated::Day } else { Dated::Not })
    }

    fn told(&self, point: usize, dated: Dated) -> String {
        let from = self.part(point).from;
        if self.step >= Grain::Day.seconds() { dated.day(from) } else { dated.minute(from) }
    }

    /// Everything about a step, a line each, for a tooltip.
    pub fn words(&self, point: usize) -> String {
        let Some(counts) = self.points.get(point) else { return String::new() };
        let part = self.part(point);
        let mut lines =
            vec![format!("{}, {} min", self.label(point), grouped(part.length().whole_minutes() as u64))];
        let stages = Stage::ALL.into_iter().rev().filter(|stage| counts[stage.index()] > 0);
        lines.extend(stages.map(|stage| format!("{} {}", stage.title(), grouped(counts[stage.index()]))));
        if counts.iter().sum::<u64>() == 0 {
            lines.push("nothing".into());
        }
        lines.join("\n")
    }

    /// The address of the requests behind a step and stage. `behind` is a list of requests, with what it is of in its query.
    pub fn link(&self, behind: &str, point: usize, stage: Stage) -> String {
        let sign = if behind.contains('?') { '&' } else { '?' };
        format!("{behind}{sign}stage={}&{}", stage.name(), Span::Between(self.part(point)).to_url())
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn last(span: Duration) -> Window {
        Window::last(span, datetime!(2026-11-29 14:07:30 UTC))
    }

    #[test]
    fn a_window_has_at_most_some_hundred_steps() {
        for (span, step) in [
            (Duration::minutes(15), 60),
            (Duration::hours(1), 60),
            (Duration::hours(6), 5 * 60),
            (Duration::hours(24), 15 * 60),
            (Duration::days(7), 2 * 3_600),
            (Duration::days(30), 86_400),
            (Duration::days(365), 7 * 86_400),
        ] {
            assert_eq!(step_for(last(span), Duration::hours(25), MOST), step, "{span}");
            let steps = OverTime::new(last(span), step).points.len();
            assert!(steps <= 122, "{span}: {steps}");
        }
        assert_eq!(step_for(last(Duration::hours(6)), Duration::hours(1), MOST), 3_600);
        for span in [Duration::hours(1), Duration::hours(24), Duration::days(7), Duration::days(30)] {
            let step = step_for(last(span), Duration::hours(25), MOST_OF_SEVERAL);
            assert!(OverTime::new(last(span), step).points.len() <= 62, "{span}: {step}");
        }
    }

    #[test]
    fn a_step_that_is_half_in_the_window_is_no_drop() {
        let window = Window::new(datetime!(2026-11-29 10:30 UTC), datetime!(2026-11-29 12:00 UTC));
        let mut traffic = OverTime::new(window.expect("forward"), 3_600);
        traffic.add(datetime!(2026-11-29 10:30 UTC), Stage::Quota, 300);
        traffic.add(datetime!(2026-11-29 11:59 UTC), Stage::Quota, 600);
        assert_eq!(traffic.points.len(), 2);
        assert_eq!((traffic.rate(0, Stage::Quota), traffic.rate(1, Stage::Quota)), (10.0, 10.0));
        assert_eq!(traffic.top(), 10.0);
        assert_eq!(
            traffic.link("/ops/requests?route=a", 0, Stage::Quota),
            "/ops/requests?route=a&stage=quota&from=2026-11-29T10:30Z&to=2026-11-29T11:00Z"
        );
        assert_eq!(traffic.words(0), "10:30, 30 min\nQuota 300");
    }

    #[test]
    fn an_axis_ends_at_a_round_number() {
        let mut traffic = OverTime::new(last(Duration::MINUTE), 60);
        let now = datetime!(2026-11-29 14:07 UTC);
        assert_eq!(traffic.top(), 1.0);
        traffic.add(now, Stage::Proxy, 131);
        assert_eq!(traffic.top(), 150.0);
        traffic.add(now, Stage::Key, 7_000);
        assert_eq!(traffic.top(), 8_000.0);
    }
}
