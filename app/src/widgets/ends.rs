//! Where requests ended, as one bar or as a sparkline, in the colours of the stages.

use leptos::prelude::*;

use crate::domain::funnel::Funnel;
use crate::domain::key_use::{Day, ENDS, KeyUse};
use crate::domain::stage::Stage;

/// What a sparkline is drawn in: a day is five wide, one of them the gap.
const DAY_WIDTH: usize = 5;
const HEIGHT: f64 = 28.0;

/// A funnel's requests by their end.
pub fn ends(funnel: &Funnel) -> Day {
    let mut ends = Day::default();
    for line in &funnel.stages {
        ends[line.stage.index()] = line.stopped;
    }
    ends[ENDS - 1] = funnel.reached_upstream;
    ends
}

/// As in the books.
fn class(end: usize) -> &'static str {
    match Stage::ALL.get(end) {
        Some(stage) => stage.class_of_ends(),
        None => "stage-proxy",
    }
}

/// The upstream first, then up the stages to the door.
fn order() -> impl Iterator<Item = usize> {
    (0..ENDS).rev()
}

/// One bar, as long as it all.
#[component]
pub fn EndsBar(ends: Day) -> impl IntoView {
    let total = ends.iter().sum::<u64>().max(1) as f64;
    let mut start = 0.0;
    let rects: Vec<_> = order()
        .filter(|end| ends[*end] > 0)
        .map(|end| {
            let width = ends[end] as f64 / total * 100.0;
            let x = start;
            start += width;
            view! { <rect class=class(end) x=format!("{x:.2}%") width=format!("{width:.2}%") height="100%"/> }
        })
        .collect();
    view! { <svg class="ends-bar" width="100%" aria-hidden="true">{rects}</svg> }
}

/// 30 days of a key, stacked. One path a stage: a page has many of these.
#[component]
pub fn Sparkline(usage: KeyUse) -> impl IntoView {
    let words = usage.words();
    let paths: Vec<_> = order()
        .filter_map(|end| {
            let path = path(&usage.days, end);
            (!path.is_empty()).then(|| view! { <path class=class(end) d=path/> })
        })
        .collect();
    let width = usage.days.len() * DAY_WIDTH - 1;
    view! {
        <svg class="spark" viewBox=format!("0 0 {width} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=words>
            <path class="ground" d=format!("M0 {HEIGHT}h{width}")/>
            {paths}
        </svg>
    }
}

/// The pieces of one end, each standing on those below it.
fn path(days: &[Day], end: usize) -> String {
    let highest = days.iter().map(|day| day.iter().sum::<u64>()).max().unwrap_or(0).max(1) as f64;
    let scale = |requests: u64| requests as f64 / highest * HEIGHT;
    let mut path = String::new();
    for (n, day) in days.iter().enumerate() {
        if day[end] == 0 {
            continue;
        }
        let below: u64 = order().take_while(|other| *other != end).map(|other| day[other]).sum();
        // What is there is seen, however little.
        let height = scale(day[end]).max(1.0);
        let (x, y) = (n * DAY_WIDTH, HEIGHT - scale(below));
        path += &format!("M{x} {y:.1}v-{height:.1}h{}v{height:.1}z", DAY_WIDTH - 1);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_stands_on_what_reached_the_upstream() {
        let mut day = Day::default();
        day[ENDS - 1] = 30;
        day[Stage::Quota.index()] = 10;
        let days = [Day::default(), day];
        assert_eq!(path(&days, ENDS - 1), "M5 28.0v-21.0h4v21.0z");
        assert_eq!(path(&days, Stage::Quota.index()), "M5 7.0v-7.0h4v7.0z");
        assert_eq!(path(&days, Stage::Key.index()), "");
    }
}
