//! Traffic over time: columns stacked by stage, and bands in which a breaker was open. An SVG and a table that need no scripts,
//! and over the SVG the interactive chart.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::numbers::grouped;
use crate::domain::over_time::OverTime;
use crate::domain::stage::Stage;
use crate::islands::chart::Chart;
use crate::islands::chart::data::{Band, ChartData, LINE, Size, ceiling, names};

/// Width of the drawing's own units; its height is 100.
const WIDTH: f64 = 1000.0;

#[component]
pub fn TrafficChart(
    traffic: OverTime,
    bands: Vec<Band>,
    /// The list of requests that a click leads to, with the window and what else the traffic is of.
    #[prop(optional)]
    behind: Option<Address>,
    /// Where a page has several.
    #[prop(default = "Over time".into(), into)]
    title: String,
    #[prop(default = "over-time".into(), into)] id: String,
    #[prop(default = Size::Whole)] size: Size,
    /// Which of them it is, where a heading above says so.
    #[prop(optional)]
    of: Option<String>,
) -> impl IntoView {
    let lists = behind.as_ref().map(Address::without_window).map(|address| address.href());
    let highest = grouped(traffic.highest().round() as u64);
    let (columns, shades, names) = (
        columns(&traffic, ceiling(&traffic, &bands, size)),
        shades(&traffic, &bands),
        names_of(&traffic, &bands),
    );
    let (ticks, legend, table) =
        (ticks(&traffic, size), legend(&traffic, behind.as_ref()), table(&traffic, lists.as_deref()));
    let (class, explained) = match size {
        Size::Whole => {
            ("chart traffic", format!("requests a minute by the stage where they ended, up to {highest}"))
        }
        Size::Small => ("chart traffic small", format!("up to {highest} a minute")),
    };
    let (title_id, labelled_by) = (format!("{id}-title"), format!("{id}-title"));
    view! {
        <figure class=class aria-labelledby=labelled_by data-of=of>
            <h2 id=title_id>
                {title}
                <small>{explained}</small>
            </h2>
            {legend}
            <div class="plot" aria-hidden="true">
                <div class="drawing">
                    <Chart data=ChartData::Traffic { traffic, bands, behind: lists, size }/>
                    <svg class="columns" viewBox="0 0 1000 100" preserveAspectRatio="none">{shades}{columns}</svg>
                    <svg class="words">{names}{ticks}</svg>
                </div>
            </div>
            {table}
        </figure>
    }
}

fn x(traffic: &OverTime, at: i64) -> f64 {
    let from = traffic.window.from.unix_timestamp();
    (at - from) as f64 / traffic.window.length().as_seconds_f64()
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

/// One path a stage: a box for each step, on top of the stages nearer to the upstream.
fn columns(traffic: &OverTime, top: f64) -> impl IntoView + use<> {
    let mut ground = vec![0.0; traffic.points.len()];
    let paths = Stage::ALL.into_iter().rev().map(|stage| {
        let mut path = String::new();
        for (point, ground) in ground.iter_mut().enumerate() {
            let height = traffic.rate(point, stage) / top * 100.0;
            if height > 0.0 {
                let (from, to) = traffic.whole(point);
                let (from, to) = (x(traffic, from) * WIDTH, x(traffic, to) * WIDTH);
                let (left, width) = (from + (to - from) * 0.04, (to - from) * 0.92);
                path += &format!(
                    "M{left:.1} {:.2}h{width:.1}v{height:.2}h-{width:.1}z",
                    100.0 - *ground - height
                );
                *ground += height;
            }
        }
        view! { <path class=format!("stage-{}", stage.name()) d=path/> }
    });
    paths.collect::<Vec<_>>()
}

fn shades(traffic: &OverTime, bands: &[Band]) -> impl IntoView + use<> {
    let shade = |band: &Band| {
        let (from, to) = (x(traffic, band.from) * WIDTH, x(traffic, band.to) * WIDTH);
        view! { <rect class="band" x=format!("{from:.1}") width=format!("{:.1}", (to - from).max(1.0)) height="100"/> }
    };
    bands.iter().map(shade).collect::<Vec<_>>()
}

/// Each in a line of its own, beside its first band.
fn names_of(traffic: &OverTime, bands: &[Band]) -> impl IntoView + use<> {
    let first = names(bands).into_iter().filter_map(|name| bands.iter().find(|band| band.name == name));
    let name = |(line, band): (usize, &Band)| {
        let (at, class, dx) = match band.is_late(traffic) {
            true => (x(traffic, band.to), "end", "-6"),
            false => (x(traffic, band.from), "start", "6"),
        };
        let y = (14.0 + LINE * line as f64).to_string();
        view! { <text class=class x=percent(at) dx=dx y=y>{band.words()}</text> }
    };
    first.enumerate().map(name).collect::<Vec<_>>()
}

/// Begin, middle and end; the style sheet puts them under the columns.
fn ticks(traffic: &OverTime, size: Size) -> impl IntoView + use<> {
    let dy = if size == Size::Whole { "-22" } else { "-8" };
    let last = traffic.points.len() - 1;
    let middle = last / 2;
    let mut ticks = vec![("start", 0.0, traffic.tick(0))];
    if last > 3 {
        let (from, _) = traffic.whole(middle);
        ticks.push(("middle", x(traffic, from), traffic.tick(middle)));
    }
    if last > 0 {
        ticks.push(("end", 1.0, traffic.tick(last)));
    }
    let tick = |(class, at, text): (&'static str, f64, String)| {
        view! { <text class=class x=percent(at) y="100%" dy=dy>{text}</text> }
    };
    ticks.into_iter().map(tick).collect::<Vec<_>>()
}

/// What the colours mean, how many there were, and the way to them.
fn legend(traffic: &OverTime, behind: Option<&Address>) -> impl IntoView + use<> {
    let entries = Stage::ALL.into_iter().filter(|stage| traffic.total(*stage) > 0).map(|stage| {
        let dot = view! { <span class="dot" aria-hidden="true"></span> };
        let words = format!("{} {}", stage.title(), grouped(traffic.total(stage)));
        let class = format!("stage-{}", stage.name());
        match behind.map(|address| address.with("stage", Some(stage.name())).href()) {
            Some(href) => view! { <li class=class><a href=href>{dot}{words}</a></li> }.into_any(),
            None => view! { <li class=class>{dot}{words}</li> }.into_any(),
        }
    });
    view! { <ul class="legend">{entries.collect::<Vec<_>>()}</ul> }
}

/// The steps in which anything happened, newest first.
fn table(traffic: &OverTime, behind: Option<&str>) -> impl IntoView + use<> {
    let stages: Vec<Stage> = Stage::ALL.into_iter().filter(|stage| traffic.total(*stage) > 0).collect();
    let heads: Vec<_> = stages.iter().map(|stage| view! { <th scope="col">{stage.title()}</th> }).collect();
    let mut rows = Vec::new();
    for point in (0..traffic.points.len()).rev() {
        let counts = traffic.points[point];
        if counts.iter().sum::<u64>() == 0 {
            continue;
        }
        let cells = stages.iter().map(|stage| {
            let count = counts[stage.index()];
            match behind.filter(|_| count > 0).map(|behind| traffic.link(behind, point, *stage)) {
                Some(href) => view! { <td><a href=href>{grouped(count)}</a></td> }.into_any(),
                None => view! { <td>{grouped(count)}</td> }.into_any(),
            }
        });
        let cells: Vec<_> = cells.collect();
        rows.push(view! { <tr><th scope="row">{traffic.label(point)}</th>{cells}</tr> });
    }
    view! {
        <details class="as-table">
            <summary>"As a table"</summary>
            <div class="wide" tabindex="0">
                <table class="numbers">
                    <thead><tr><th scope="col">"From (UTC)"</th>{heads}</tr></thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </details>
    }
}
