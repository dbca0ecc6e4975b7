//! One upstream: its breaker, its urls, its traffic with bands, and the handle.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::api::{Charted, HOLDS};
use crate::breakers::{Target, Upstream};
use crate::domain::moment::Dated;
use crate::domain::numbers::{count, duration, grouped, list, span_words};
use crate::islands::chart::data::Size;
use crate::widgets::address::Address;
use crate::widgets::traffic_chart::TrafficChart;

#[component]
pub fn OneUpstream(of: Charted, now: OffsetDateTime, requests: Address) -> impl IntoView {
    let Charted { upstream, traffic, mut bands } = of;
    // Whose breaker it is, the section says.
    bands.iter_mut().for_each(|band| band.name.clear());
    let heading = format!("upstream-{}-title", upstream.id);
    let labelled_by = heading.clone();
    let chart_id = format!("traffic-{}", upstream.name);
    let of = format!("Upstream {}", upstream.name);
    let (state, words) = state(&upstream, now);
    let facts = facts(&upstream, now);
    let requests = requests.with("upstream", Some(&upstream.name));
    let handle = handle(&upstream);
    view! {
        <section class=format!("upstream {state}") aria-labelledby=labelled_by id=format!("upstream-{}", upstream.id)>
            <div class="upstream-head">
                <h2 id=heading>{upstream.name.clone()}</h2>
                <p class="breaker-state"><span class="breaker-mark" aria-hidden="true"></span>{words}</p>
                {handle}
            </div>
            <dl class="facts">{facts}</dl>
            <TrafficChart traffic=traffic bands=bands behind=requests title="Traffic" id=chart_id size=Size::Small of=of/>
        </section>
    }
}

/// Class, and words.
fn state(upstream: &Upstream, now: OffsetDateTime) -> (&'static str, String) {
    match (upstream.state.as_str(), upstream.due_at) {
        ("open", Some(due)) if due > now => {
            ("open", format!("Breaker open; to be tried again at {}", Dated::of(due, now).second(due)))
        }
        ("open", _) => ("open", "Breaker open; the next request finds out whether it is back".into()),
        ("half_open", _) => {
            ("open", "Breaker half-open; one request is finding out whether it is back".into())
        }
        _ if upstream.failures > 0 => {
            let allowed = count(upstream.breaker_failures as u64, "failure");
            ("closed", format!("Breaker closed, after {} of {allowed}", grouped(upstream.failures as u64)))
        }
        _ => ("closed", "Breaker closed".into()),
    }
}

fn facts(upstream: &Upstream, now: OffsetDateTime) -> impl IntoView + use<> {
    let routes: Vec<&str> = upstream.routes.iter().map(String::as_str).collect();
    let routes = if routes.is_empty() { "none, so nobody can call it".to_owned() } else { list(&routes) };
    let milliseconds = |ms: i64| match ms % 1000 {
        0 => span_words(time::Duration::milliseconds(ms)),
        _ => duration(ms as u64 * 1000),
    };
    let rule = format!(
        "opens for {} after {} in {}; at most {} of a node inside",
        milliseconds(upstream.breaker_open_ms),
        count(upstream.breaker_failures as u64, "failure"),
        milliseconds(upstream.breaker_window_ms),
        count(upstream.max_in_flight as u64, "request")
    );
    let is_checked = upstream.health.is_some();
    let urls: Vec<_> = upstream
        .targets
        .iter()
        .map(|target| {
            let (class, words) = health(target, is_checked, now);
            view! { <dd><code>{target.url.clone()}</code>" "<span class=class>{words}</span></dd> }
        })
        .collect();
    view! {
        <dt>"Routes"</dt><dd>{routes}</dd>
        <dt>"Breaker"</dt><dd>{rule}</dd>
        <dt>{if urls.len() == 1 { "Url" } else { "Urls" }}</dt>{urls}
    }
}

fn health(target: &Target, is_checked: bool, now: OffsetDateTime) -> (&'static str, String) {
    let since = target.failing_since.map(|at| format!(" since {}", Dated::of(at, now).second(at)));
    let since = since.unwrap_or_default();
    match (target.well, target.failing) {
        _ if !is_checked => ("soft", "no health check".into()),
        (0, 0) => ("soft", "not checked yet".into()),
        (_, 0) => ("well", "well".into()),
        (0, _) => ("ill", format!("fails its health check{since}")),
        (well, failing) => (
            "ill",
            format!(
                "fails the health check of {} of {}{since}",
                grouped(failing as u64),
                count((well + failing) as u64, "node")
            ),
        ),
    }
}

/// Opening and closing by hand; the generation says what the operator has seen.
fn handle(upstream: &Upstream) -> impl IntoView + use<> {
    let (id, generation) = (upstream.id.to_string(), upstream.generation.to_string());
    if upstream.state != "closed" {
        return view! {
            <form method="post" action="/_fn/close_breaker" class="handle">
                <input type="hidden" name="upstream" value=id/>
                <input type="hidden" name="generation" value=generation/>
                <button class="quiet">"Close the breaker now"</button>
            </form>
        }
        .into_any();
    }
    let holds = HOLDS.map(|(minutes, words)| view! { <option value=minutes.to_string()>{words}</option> });
    let label = format!("hold-{id}");
    view! {
        <details class="handle-more">
            <summary>"Open by hand"</summary>
            <form method="post" action="/_fn/open_breaker" class="handle">
                <input type="hidden" name="upstream" value=id/>
                <input type="hidden" name="generation" value=generation/>
                <label for=label.clone()>"For"</label>
                <select name="minutes" id=label>{holds.into_iter().collect_view()}</select>
                <button class="quiet">"Open the breaker"</button>
            </form>
        </details>
    }
    .into_any()
}
