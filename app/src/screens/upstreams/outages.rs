//! Each outage, and who was held back in it.

use leptos::prelude::*;

use crate::breakers::Held;
use crate::domain::moment::Dated;
use crate::domain::numbers::{count, grouped, span_words};
use crate::domain::span::Span;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

/// Partners that are named before "and 5 others".
const NAMED: usize = 4;

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
        ("", "Shut (UTC)"),
        ("", "Lasted"),
        ("", "Why"),
        ("r", "Held back"),
        ("", "Of whom"),
    ];
    let rows: Vec<_> = held.into_iter().map(|held| row(held, dated, &requests)).collect();
    view! {
        <section aria-labelledby="outages-title">
            <h2 id="outages-title">"Shut doors"<small>"newest first; requests of the whole outage, by whole minutes"</small></h2>
            <div class="wide" tabindex="0">
                <Table class="outages" columns=columns rows=rows/>
            </div>
        </section>
    }
    .into_any()
}

fn row(held: Held, dated: Dated, requests: &Address) -> impl IntoView + use<> {
    let Held { outage, times, counted, requests: held_back, partners } = held;
    let lasted = match outage.to {
        Some(to) if times > 1 => format!("{}, shut {}", span_words(to - outage.from), count(times, "time")),
        Some(to) => span_words(to - outage.from),
        None => "until now".into(),
    };
    let behind = requests.at(Span::Between(counted)).with("stage", Some("breaker"));
    let behind = behind.with("upstream", Some(&outage.upstream));
    let number = match held_back {
        0 => "0".into_any(),
        n => view! { <a href=behind.href()>{grouped(n)}</a> }.into_any(),
    };
    let others = partners.len().saturating_sub(NAMED);
    let mut whose: Vec<_> = partners.iter().take(NAMED).map(|(slug, n)| of_whom(slug, *n)).collect();
    if others > 0 {
        whose.push(count(others as u64, "other"));
    }
    view! {
        <tr id=format!("outage-{}-{}", outage.upstream_id, outage.from.unix_timestamp())>
            <th scope="row">{outage.upstream}</th>
            <td data-label="Shut">{dated.enough(outage.from, counted.to).second(outage.from)}</td>
            <td data-label="Lasted">{lasted}</td>
            <td data-label="Why">{outage.reason}</td>
            <td class="r" data-label="Held back">{number}</td>
            <td data-label="Of whom">{whose.join(", ")}</td>
        </tr>
    }
}

fn of_whom(slug: &str, requests: u64) -> String {
    if slug.is_empty() {
        format!("without key {}", grouped(requests))
    } else {
        format!("{slug} {}", grouped(requests))
    }
}
