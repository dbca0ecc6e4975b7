//! The funnel as a drawing: an SVG that needs no scripts, and over it the interactive chart.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::grouped;
use crate::islands::chart::Chart;
use crate::islands::chart::data::{ChartData, Piece, pieces};

#[component]
pub fn FunnelChart(
    funnel: Funnel,
    /// The list of requests that a click leads to, with the window and what else the funnel is of.
    #[prop(optional)]
    behind: Option<Address>,
) -> impl IntoView {
    let behind = behind.map(|address| address.href());
    let pieces = pieces(&funnel);
    let (shapes, labels) = (shapes(&pieces), labels(&pieces));
    view! {
        <figure class="chart funnel" aria-labelledby="funnel-title">
            <h2 id="funnel-title">
                "The funnel"<small>"each stage as wide as what it was given; the number is what it let through"</small>
            </h2>
            <div class="plot" aria-hidden="true">
                <div class="drawing">
                    <Chart data=ChartData::Funnel { pieces, behind }/>
                    <svg viewBox="0 0 100 120" preserveAspectRatio="none">{shapes}</svg>
                </div>
                <div class="labels">{labels}</div>
            </div>
            <figcaption>"The same numbers as in the books above."</figcaption>
        </figure>
    }
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
    let label = |piece: &Piece| view! { <span><b>{piece.stage.title()}</b>{grouped(piece.passed)}</span> };
    pieces.iter().map(label).collect::<Vec<_>>()
}
