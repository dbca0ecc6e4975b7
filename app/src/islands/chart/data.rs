//! What a chart shows. The server puts it into the page, the browser draws it.

use serde::{Deserialize, Serialize};

use crate::domain::funnel::{Funnel, Latency, StageLine};
use crate::domain::numbers::{grouped, percent};
use crate::domain::over_time::OverTime;
use crate::domain::stage::Stage;

/// `behind` is the address of a list of requests, to which a click adds what was clicked; without it nothing can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChartData {
    Funnel { pieces: Vec<Piece>, behind: Option<String> },
    Histogram { latency: Latency, behind: Option<String> },
    Traffic { traffic: OverTime, bands: Vec<Band>, behind: Option<String>, size: Size },
}

/// How much there is to a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// With a slider to zoom by.
    Whole,
    /// One of several below each other.
    Small,
}

/// A time in which a breaker was open, within the window; seconds since the epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Band {
    pub from: i64,
    pub to: i64,
    /// Of the upstream.
    pub name: String,
}

impl Band {
    pub fn words(&self) -> String {
        if self.name.is_empty() { "breaker open".into() } else { format!("{}: breaker open", self.name) }
    }

    /// Whether its name has more room before its end than behind its beginning.
    pub fn is_late(&self, traffic: &OverTime) -> bool {
        let from = traffic.window.from.unix_timestamp();
        self.from - from > traffic.window.length().whole_seconds() * 7 / 10
    }
}

impl ChartData {
    /// Where a click leads: the requests behind one item of a series, both counted from 0 as they are drawn.
    pub fn link(&self, series: usize, item: usize) -> Option<String> {
        let with = |behind: &str, pair: String| {
            format!("{behind}{}{pair}", if behind.contains('?') { '&' } else { '?' })
        };
        match self {
            ChartData::Funnel { pieces, behind } => {
                Some(with(behind.as_ref()?, format!("stage={}", pieces.get(item)?.stage.name())))
            }
            ChartData::Histogram { latency, behind } => {
                let bound = latency.bounds_ms.get(item).map_or("over".to_owned(), u32::to_string);
                Some(with(behind.as_ref()?, format!("latency={bound}")))
            }
            ChartData::Traffic { traffic, behind, .. } => {
                traffic.points.get(item)?;
                Some(traffic.link(behind.as_ref()?, item, stage_of_series(series)?))
            }
        }
    }

    /// What a tooltip says of an item, where its name does not say it.
    pub fn words(&self, item: usize) -> Option<String> {
        let ChartData::Traffic { traffic, bands, .. } = self else { return None };
        let (from, to) = (item < traffic.points.len()).then(|| traffic.whole(item))?;
        let open = bands.iter().filter(|band| band.from < to && band.to > from);
        let mut open: Vec<_> = open.map(|band| format!("\n{}", band.words())).collect();
        open.dedup();
        Some(std::iter::once(traffic.words(item)).chain(open).collect())
    }
}

/// Each upstream is named once: flapping breakers are many bands.
pub fn names(bands: &[Band]) -> Vec<&str> {
    let mut names: Vec<&str> = bands.iter().map(|band| band.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Where the axis of traffic ends: above the columns there is room for the names of bands, a line each.
pub fn ceiling(traffic: &OverTime, bands: &[Band], size: Size) -> f64 {
    let height = match size {
        Size::Whole => 210.0,
        Size::Small => 124.0,
    };
    let room: f64 = match names(bands).len() {
        0 => 0.0,
        lines => LINE * lines as f64 + 6.0,
    };
    traffic.top() * height / (height - room.min(height / 2.0))
}

/// Traffic is stacked from the upstream up: what was served stands on the ground, what was refused on top of it.
pub fn stage_of_series(series: usize) -> Option<Stage> {
    Stage::ALL.into_iter().rev().nth(series)
}

/// One piece of the funnel, top to bottom: as wide as what came in, narrowing to what goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub stage: Stage,
    /// "Quota: 4,530 of 9,474 stopped".
    pub words: String,
    pub entered: u64,
    pub passed: u64,
}

/// What has ended, so that the pieces fit each other: what is in flight has not reached any edge yet.
pub fn pieces(funnel: &Funnel) -> Vec<Piece> {
    let piece = |line: &StageLine| Piece {
        stage: line.stage,
        words: format!(
            "{}: {} of {} stopped ({})",
            line.stage.title(),
            grouped(line.stopped),
            grouped(line.entered),
            percent(line.stopped, line.entered)
        ),
        entered: line.entered,
        passed: line.passed,
    };
    funnel.stages.iter().map(piece).collect()
}

/// Height of a line of words in a drawing, in pixels.
pub const LINE: f64 = 16.0;

/// Upper bounds of the latency buckets, in milliseconds.
pub const LABELS: [&str; 9] = ["5", "10", "25", "50", "100", "250", "1,000", "5,000", "over"];

/// The bucket that p95 lies in.
pub fn bucket_of_p95(latency: &Latency) -> Option<usize> {
    let p95 = latency.p95?;
    Some(p95.high.and_then(|high| latency.bounds_ms.iter().position(|bound| *bound == high)).unwrap_or(8))
}

#[cfg(test)]
mod tests {
    use time::Duration;
    use time::macros::datetime;

    use super::*;
    use crate::domain::window::Window;

    #[test]
    fn a_click_on_traffic_leads_to_the_requests_of_that_minute_and_stage() {
        let window = Window::last(Duration::minutes(2), datetime!(2026-11-29 14:01:30 UTC));
        let mut traffic = OverTime::new(window, 60);
        traffic.add(datetime!(2026-11-29 14:01 UTC), Stage::Quota, 7);
        let opened = datetime!(2026-11-29 14:01:20 UTC).unix_timestamp();
        let bands = vec![Band { from: opened, to: opened + 5, name: "billing".into() }];
        let behind = Some("/ops/requests".into());
        let data = ChartData::Traffic { traffic, bands, behind, size: Size::Whole };
        let link = "/ops/requests?stage=quota&from=2026-11-29T14:01Z&to=2026-11-29T14:02Z";
        assert_eq!(data.link(3, 1).as_deref(), Some(link));
        assert_eq!(data.link(3, 2), None);
        assert_eq!(data.words(1).as_deref(), Some("14:01, 1 min\nQuota 7\nbilling: breaker open"));
        assert_eq!(data.words(0).as_deref(), Some("14:00, 1 min\nnothing"));
    }
}
