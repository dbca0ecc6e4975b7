//! Latency in nine buckets, with percentiles as ranges: the buckets know no more.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::funnel::Latency;
use crate::domain::histogram::BOUNDS_MS;
use crate::domain::numbers::{count, grouped, percent};
use crate::islands::chart::Chart;
use crate::islands::chart::data::{ChartData, LABELS, bucket_of_p95};

/// Under the bars.
const TICKS: [&str; 9] = ["≤ 5", "10", "25", "50", "100", "250", "1,000", "5,000", "over"];

#[component]
pub fn LatencyHistogram(
    latency: Latency,
    /// The list of requests that a click leads to, with the window and what else the latency is of.
    #[prop(optional)]
    behind: Option<Address>,
) -> impl IntoView {
    let (bars, rows) = (bars(&latency), rows(&latency, behind.as_ref()));
    let behind = behind.map(|address| address.href());
    view! {
        <figure class="chart histogram" aria-labelledby="latency-title">
            <h2 id="latency-title">
                "Latency at the upstream"
                <small>{format!("{}, milliseconds", count(total(&latency), "request"))}</small>
            </h2>
            <dl class="percentiles">{percentiles(&latency)}</dl>
            <div class="plot" aria-hidden="true">
                <div class="drawing">
                    <Chart data=ChartData::Histogram { latency, behind }/>
                    <svg viewBox="0 0 9 100" preserveAspectRatio="none">{bars}</svg>
                </div>
                <div class="ticks">{TICKS.map(|tick| view! { <span>{tick}</span> }).collect_view()}</div>
            </div>
            <figcaption>"The shaded bucket holds p95. A percentile is a range: the buckets know no more."</figcaption>
            <details class="as-table">
                <summary>"As a table"</summary>
                <table class="numbers">
                    <thead>
                        <tr><th scope="col">"Latency"</th><th scope="col">"Requests"</th><th scope="col">"Share"</th></tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </details>
        </figure>
    }
}

fn total(latency: &Latency) -> u64 {
    latency.counts.iter().sum()
}

fn percentiles(latency: &Latency) -> impl IntoView + use<> {
    [("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99)].map(|(name, percentile)| {
        let words = percentile.map_or("no requests".to_owned(), |percentile| percentile.words());
        view! { <div><dt>{name}</dt><dd>{words}</dd></div> }
    })
}

/// The shade of p95 comes first, under the bars; without one it has no height.
fn bars(latency: &Latency) -> impl IntoView + use<> {
    let highest = latency.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let marked = bucket_of_p95(latency);
    let shade = ("mark", marked.unwrap_or(0) as f64 + 0.05, 0.9, if marked.is_some() { 100.0 } else { 0.0 });
    let counts = latency.counts.iter().enumerate();
    let bars = counts.map(|(n, count)| ("count", n as f64 + 0.05, 0.9, *count as f64 / highest * 100.0));
    std::iter::once(shade)
        .chain(bars)
        .map(|(class, x, width, height)| {
            let (x, y) = (format!("{x:.2}"), format!("{:.2}", 100.0 - height));
            view! { <rect class=class x=x y=y width=width.to_string() height=format!("{height:.2}")/> }
        })
        .collect::<Vec<_>>()
}

fn rows(latency: &Latency, behind: Option<&Address>) -> impl IntoView + use<> {
    let total = total(latency);
    let rows = LABELS.iter().zip(latency.counts).enumerate();
    rows.map(|(bucket, (label, count))| {
        let name = if bucket == 8 { "over 5,000 ms".to_owned() } else { format!("up to {label} ms") };
        let bound = BOUNDS_MS.get(bucket).map_or("over".to_owned(), u32::to_string);
        let href = behind.filter(|_| count > 0).map(|address| address.with("latency", Some(&bound)).href());
        let number = match href {
            Some(href) => view! { <a href=href>{grouped(count)}</a> }.into_any(),
            None => grouped(count).into_any(),
        };
        view! { <tr><th scope="row">{name}</th><td>{number}</td><td>{percent(count, total)}</td></tr> }
    })
    .collect::<Vec<_>>()
}
