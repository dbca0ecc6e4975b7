//! Each outage, and who was held back in it.

use leptos::prelude::*;

use crate::breakers::{Held, Outage};
use crate::domain::moment::Dated;
use crate::domain::numbers::{count, grouped, span_words};
use crate::domain::span::Span;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

/// Partners that are named before "and 5 others".
const NAMED: usize = 4;
/// Outages that share a minute, each told before "and 7 earlier".
const TOLD: usize = 5;

#[component]
pub fn Outages(
    held: Vec<Held>,
    /// How much of a date is told at least.
    dated: Dated,
    requests: Address,
) -> impl IntoView {
    if held.is_empty() {
        return ().into_any();
    }
    let columns = vec![
        ("", "Upstream"),
        ("", "Opened (UTC)"),
        ("", "Lasted"),
        ("", "Why"),
        ("r", "Held back"),
        ("", "Of whom"),
    ];
    let rows: Vec<_> = held.iter().flat_map(|held| rows(held, dated, &requests)).collect();
    view! {
        <section aria-labelledby="outages-title">
            <h2 id="outages-title">"Outages"<small>"when breakers were open, newest first; requests of the whole outage, by whole minutes"</small></h2>
            <div class="wide" tabindex="0">
                <Table class="outages" columns=columns rows=rows/>
            </div>
        </section>
    }
    .into_any()
}

/// A row each. Of several that share a minute the newest has the requests of all, and of many the oldest are a row together.
fn rows(held: &Held, dated: Dated, requests: &Address) -> Vec<AnyView> {
    let at = |at| dated.enough(at, held.counted.to).second(at);
    let (told, rest) = held.outages.split_at(TOLD.min(held.outages.len()));
    let mut rows: Vec<_> = told
        .iter()
        .enumerate()
        .map(|(n, outage)| {
            let lasted = outage.to.map_or("until now".into(), |to| span_words(to - outage.from));
            let (number, whose) =
                if n == 0 { (number(held, requests), whose(held)) } else { counted_above() };
            row(outage, at(outage.from), lasted, outage.reason.clone(), number, whose)
        })
        .collect();
    if let Some(oldest) = rest.last() {
        let when = format!("{} earlier since {}", grouped(rest.len() as u64), at(oldest.from));
        let (number, whose) = counted_above();
        rows.push(row(oldest, when, String::new(), String::new(), number, whose));
    }
    rows
}

fn row(
    outage: &Outage,
    opened: String,
    lasted: String,
    why: String,
    number: AnyView,
    whose: String,
) -> AnyView {
    view! {
        <tr id=format!("outage-{}-{}", outage.upstream_id, outage.from.unix_timestamp())>
            <th scope="row">{outage.upstream.clone()}</th>
            <td data-label="Opened">{opened}</td>
            <td data-label="Lasted">{lasted}</td>
            <td data-label="Why">{why}</td>
            <td class="r" data-label="Held back">{number}</td>
            <td data-label="Of whom">{whose}</td>
        </tr>
    }
    .into_any()
}

/// Counts are by the minute.
fn counted_above() -> (AnyView, String) {
    ("–".into_any(), "counted above: it shares a minute with that".into())
}

fn number(held: &Held, requests: &Address) -> AnyView {
    let behind = requests.at(Span::Between(held.counted)).with("stage", Some("breaker"));
    let behind = behind.with("upstream", Some(&held.newest().upstream));
    match held.requests {
        0 => "0".into_any(),
        n => view! { <a href=behind.href()>{grouped(n)}</a> }.into_any(),
    }
}

fn whose(held: &Held) -> String {
    let others = held.partners.len().saturating_sub(NAMED);
    let mut whose: Vec<_> = held.partners.iter().take(NAMED).map(|(slug, n)| of_whom(slug, *n)).collect();
    if others > 0 {
        whose.push(count(others as u64, "other"));
    }
    let whose = whose.join(", ");
    match held.outages.len() {
        1 => whose,
        all => format!("{whose}, in all {all}"),
    }
}

fn of_whom(slug: &str, requests: u64) -> String {
    if slug.is_empty() {
        format!("without key {}", grouped(requests))
    } else {
        format!("{slug} {}", grouped(requests))
    }
}
