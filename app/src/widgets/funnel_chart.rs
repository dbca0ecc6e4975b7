//! The funnel as a drawing: an SVG that needs no scripts, and over it the interactive chart.

use leptos::html::Div;
use leptos::prelude::*;

use super::numbers::{grouped, percent};
use crate::domain::funnel::Funnel;
use crate::domain::stage::Stage;

/// One piece of the funnel, top to bottom: as wide as what came in, narrowing to what goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    pub stage: Stage,
    /// "Quota: 4,530 of 9,474 stopped".
    pub words: String,
    pub entered: u64,
    pub passed: u64,
}

/// What has ended, so that the pieces fit each other: what is in flight has not reached any edge yet.
pub fn pieces(funnel: &Funnel) -> Vec<Piece> {
    funnel
        .stages
        .iter()
        .map(|line| Piece {
            stage: line.stage,
            words: format!(
                "{}: {} of {} stopped ({})",
                name(line.stage),
                grouped(line.stopped),
                grouped(line.entered),
                percent(line.stopped, line.entered)
            ),
            entered: line.entered,
            passed: line.passed,
        })
        .collect()
}

/// What a stage is called in a drawing.
pub fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Route => "Route",
        Stage::Key => "Key",
        Stage::Quota => "Quota",
        Stage::Cache => "Cache",
        Stage::Breaker => "Breaker",
        Stage::Proxy => "Proxy",
    }
}

#[component]
pub fn FunnelChart(#[prop(into)] funnel: Signal<Funnel>) -> impl IntoView {
    let canvas = NodeRef::<Div>::new();
    #[cfg(feature = "hydrate")]
    super::chart::keep_drawn(canvas, move |palette| super::chart::funnel(&pieces(&funnel.read()), palette));
    view! {
        <figure class="chart funnel" aria-labelledby="funnel-title">
            <h2 id="funnel-title">
                "The funnel"<small>"each stage as wide as what it was given; the number is what it let through"</small>
            </h2>
            <div class="plot" aria-hidden="true">
                <div class="drawing">
                    <div class="canvas" node_ref=canvas></div>
                    <svg viewBox="0 0 100 120" preserveAspectRatio="none">{move || shapes(&pieces(&funnel.read()))}</svg>
                </div>
                <div class="labels">{move || labels(&pieces(&funnel.read()))}</div>
            </div>
            <figcaption>"The same numbers as in the books above."</figcaption>
        </figure>
    }
    .into_any()
}

fn shapes(pieces: &[Piece]) -> impl IntoView + use<> {
    let top = pieces.first().map_or(0, |piece| piece.entered).max(1) as f64;
    let half = |n: u64| n as f64 / top * 50.0;
    let shape = |(index, piece): (usize, &Piece)| {
        let (a, b) = (half(piece.entered), half(piece.passed));
        let (y, end) = (index as f64 * 20.0 + 0.5, index as f64 * 20.0 + 19.5);
        let points =
            format!("{:.2},{y} {:.2},{y} {:.2},{end} {:.2},{end}", 50.0 - a, 50.0 + a, 50.0 + b, 50.0 - b);
        view! { <polygon class=format!("stage-{}", piece.stage.name()) points=points/> }
    };
    pieces.iter().enumerate().map(shape).collect::<Vec<_>>()
}

fn labels(pieces: &[Piece]) -> impl IntoView + use<> {
    let label = |piece: &Piece| view! { <span><b>{name(piece.stage)}</b>{grouped(piece.passed)}</span> };
    pieces.iter().map(label).collect::<Vec<_>>()
}
