//! What a chart shows. The server puts it into the page, the browser draws it.

use serde::{Deserialize, Serialize};

use crate::domain::funnel::{Funnel, Latency, StageLine};
use crate::domain::numbers::{grouped, percent};
use crate::domain::stage::Stage;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChartData {
    Funnel(Vec<Piece>),
    Histogram(Latency),
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

/// Upper bounds of the latency buckets, in milliseconds.
pub const LABELS: [&str; 9] = ["5", "10", "25", "50", "100", "250", "1,000", "5,000", "over"];

/// The bucket that p95 lies in.
pub fn bucket_of_p95(latency: &Latency) -> Option<usize> {
    let p95 = latency.p95?;
    Some(p95.high.and_then(|high| latency.bounds_ms.iter().position(|bound| *bound == high)).unwrap_or(8))
}
