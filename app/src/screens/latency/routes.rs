//! Each route: its buckets as a small drawing, percentiles as ranges.

use leptos::prelude::*;

use crate::domain::histogram::Histogram;
use crate::domain::numbers::{duration, grouped};
use crate::domain::stage::Stage;
use crate::latency::Times;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

#[component]
pub fn Routes(routes: Vec<(String, Times)>, address: Address) -> impl IntoView {
    let timed = routes.into_iter().filter(|(name, times)| !name.is_empty() && times.at_upstream.total() > 0);
    let rows: Vec<_> = timed.map(|(name, times)| row(name, &times, &address)).collect();
    if rows.is_empty() {
        return ().into_any();
    }
    let columns = vec![
        ("", "Route"),
        ("r", "Requests"),
        ("unseen", "Buckets"),
        ("", "p50"),
        ("", "p95"),
        ("", "p99"),
        ("r", "Upstream, each"),
    ];
    view! {
        <section aria-labelledby="routes-title">
            <h2 id="routes-title">"By route"<small>"requests that reached the upstream; a percentile is a range"</small></h2>
            <div class="wide" tabindex="0">
                <Table class="route-times" columns=columns rows=rows/>
            </div>
        </section>
    }
    .into_any()
}

fn row(name: String, times: &Times, address: &Address) -> impl IntoView + use<> {
    let percentiles = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)].map(|(name, q)| {
        let words = times.at_upstream.percentile(q).map(|p| p.words()).unwrap_or_default();
        view! { <td data-label=name>{words}</td> }
    });
    let href = address.with("route", Some(&name)).href();
    view! {
        <tr>
            <th scope="row"><a href=href>{name}</a></th>
            <td class="r" data-label="Requests">{grouped(times.at_upstream.total())}</td>
            <td class="buckets-cell">{buckets(&times.at_upstream)}</td>
            {percentiles.into_iter().collect_view()}
            <td class="r" data-label="Upstream, each">{duration(times.mean(Stage::Proxy))}</td>
        </tr>
    }
}

fn buckets(histogram: &Histogram) -> impl IntoView + use<> {
    let highest = histogram.counts.iter().copied().max().unwrap_or(0).max(1);
    let bars = histogram.counts.into_iter().enumerate().map(|(n, count)| {
        let height = count as f64 / highest as f64 * 20.0;
        view! { <rect x=(n * 9).to_string() width="8" y=format!("{:.1}", 20.0 - height) height=format!("{height:.1}")/> }
    });
    view! { <svg class="buckets" viewBox="0 0 80 20" width="80" height="20" aria-hidden="true">{bars.collect::<Vec<_>>()}</svg> }
}
