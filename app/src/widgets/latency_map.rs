//! Latency over time: a row a bucket, a column a step, the darker the more of the step's requests; and p95's bucket of each
//! step as a line. A drawing that needs no scripts, and a table.

use leptos::prelude::*;

use crate::domain::histogram::Histogram;
use crate::domain::numbers::grouped;
use crate::domain::over_time::OverTime;

/// Slowest on top, as the labels beside the drawing.
const LABELS: [&str; 9] = ["over 5,000", "5,000", "1,000", "250", "100", "50", "25", "10", "≤ 5"];
/// Shares from which on a box is darker, in per cent.
const SHADES: [u64; 4] = [1, 10, 30, 60];

#[component]
pub fn LatencyMap(steps: OverTime, histograms: Vec<Histogram>) -> impl IntoView {
    let (shades, line, ticks, rows) =
        (shades(&histograms), line(&histograms), ticks(&steps), rows(&steps, &histograms));
    let view_box = format!("0 0 {} 90", histograms.len() * 10);
    view! {
        <figure class="chart latency-map" aria-labelledby="latency-map-title">
            <h2 id="latency-map-title">
                "Over time"<small>"the stronger the colour, the more of the requests of that time; the line is p95’s bucket"</small>
            </h2>
            <div class="plot" aria-hidden="true">
                <div class="map-labels">{LABELS.map(|label| view! { <span>{label}</span> }).collect_view()}</div>
                <svg viewBox=view_box preserveAspectRatio="none">{shades}{line}</svg>
                <div class="map-ticks">{ticks}</div>
            </div>
            <details class="as-table">
                <summary>"As a table"</summary>
                <div class="wide" tabindex="0">
                    <table class="numbers">
                        <thead>
                            <tr>
                                <th scope="col">"From (UTC)"</th><th scope="col">"Requests"</th>
                                <th scope="col">"p50"</th><th scope="col">"p95"</th><th scope="col">"p99"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </table>
                </div>
            </details>
        </figure>
    }
}

/// One path a shade.
fn shades(histograms: &[Histogram]) -> impl IntoView + use<> {
    let mut paths = [const { String::new() }; SHADES.len()];
    for (step, histogram) in histograms.iter().enumerate() {
        let total = histogram.total();
        for (bucket, count) in histogram.counts.into_iter().enumerate() {
            let shade = SHADES.iter().rposition(|from| count > 0 && count * 100 >= total * from);
            // What is there is seen, however little it is.
            let shade = shade.or((count > 0).then_some(0));
            if let Some(path) = shade.map(|shade| &mut paths[shade]) {
                *path += &format!("M{} {}h10v10h-10z", step * 10, (8 - bucket) * 10);
            }
        }
    }
    let path = |(shade, path): (usize, String)| view! { <path class=format!("shade-{shade}") d=path/> };
    paths.into_iter().enumerate().map(path).collect::<Vec<_>>()
}

/// Along the upper edge of the bucket, interrupted where nothing was timed.
fn line(histograms: &[Histogram]) -> impl IntoView + use<> {
    let mut path = String::new();
    let mut is_drawing = false;
    for (step, histogram) in histograms.iter().enumerate() {
        let Some(p95) = histogram.percentile(0.95) else {
            is_drawing = false;
            continue;
        };
        let y = (8 - bucket(p95.high)) * 10;
        path += &format!("{}{} {y}H{}", if is_drawing { "L" } else { "M" }, step * 10, step * 10 + 10);
        is_drawing = true;
    }
    view! { <path class="p95" d=path vector-effect="non-scaling-stroke"/> }
}

fn bucket(high: Option<u32>) -> usize {
    use crate::domain::histogram::BOUNDS_MS;
    high.and_then(|high| BOUNDS_MS.iter().position(|bound| *bound == high)).unwrap_or(BOUNDS_MS.len())
}

fn ticks(steps: &OverTime) -> impl IntoView + use<> {
    let last = steps.points.len() - 1;
    let mut points = vec![0, last / 2, last];
    points.dedup();
    points.into_iter().map(|point| view! { <span>{steps.tick(point)}</span> }).collect::<Vec<_>>()
}

/// Steps in which anything was timed, newest first.
fn rows(steps: &OverTime, histograms: &[Histogram]) -> impl IntoView + use<> {
    let timed = histograms.iter().enumerate().rev().filter(|(_, histogram)| histogram.total() > 0);
    let row = |(point, histogram): (usize, &Histogram)| {
        let cells = [0.5, 0.95, 0.99].map(|q| {
            let words = histogram.percentile(q).map(|p| p.words()).unwrap_or_default();
            view! { <td>{words}</td> }
        });
        view! {
            <tr><th scope="row">{steps.label(point)}</th><td>{grouped(histogram.total())}</td>{cells.into_iter().collect_view()}</tr>
        }
    };
    timed.map(row).collect::<Vec<_>>()
}
