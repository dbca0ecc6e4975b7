//! The recount on screen: door, rollups and log, and where they differ.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::api::{Differs, Ledger, Recount};
use crate::books::audit::{Life, NodeState};
use crate::domain::moment::{Dated, ago};
use crate::domain::numbers::{count, grouped};
use crate::widgets::address::Address;
use crate::widgets::headline::Said;
use crate::widgets::table::Table;

#[component]
pub fn Books(ledger: Ledger, address: Address) -> impl IntoView {
    let counts: Vec<_> = ledger
        .counts()
        .into_iter()
        .map(|(name, n)| view! { <tr><th scope="row">{name}</th><td class="r">{grouped(n)}</td></tr> })
        .collect();
    let Ledger { funnel, nodes, recount, now } = ledger;
    let sentence = match &recount {
        Some(recount) => recounted(recount),
        None => counted(funnel.arrived, funnel.unaccounted.unwrap_or(0)),
    };
    // Recounting again and again would read the log again and again.
    let again = address.with("recount", Some("on")).with("live", Some("off")).href();
    let ask = match recount.is_some() {
        true => "Recount again →",
        false => "Recount, the log too →",
    };
    let differences = recount
        .as_ref()
        .filter(|recount| !recount.differences.is_empty())
        .map(|recount| differences(&recount.differences));
    view! {
        <Said text=sentence>" "<a class="evidence" href=again>{ask}</a></Said>
        <section class="two">
            <div role="region" aria-labelledby="counts-title">
                <h2 id="counts-title">"Counted"<small>"each by other code"</small></h2>
                <Table class="compact" columns=vec![("", "By"), ("r", "Requests")] rows=counts/>
            </div>
            <Nodes nodes=nodes now=now/>
        </section>
        {differences}
    }
}

fn counted(arrived: u64, unaccounted: i64) -> String {
    match unaccounted {
        _ if arrived == 0 && unaccounted == 0 => {
            "Nothing arrived in this window, and nothing was counted.".into()
        }
        0 => {
            format!("Door and rollups agree: of {} that arrived, none is unaccounted for.", grouped(arrived))
        }
        1.. => format!(
            "{} came in, and no outcome names them. The recount finds node and minute.",
            grouped(unaccounted.unsigned_abs())
        ),
        _ => format!(
            "{} more ended than came in. The recount finds node and minute.",
            grouped(unaccounted.unsigned_abs())
        ),
    }
}

fn recounted(recount: &Recount) -> String {
    match recount.differences.len() {
        0 if recount.rollups == 1 => "Door, rollups and log agree on the one request.".into(),
        0 => format!("Door, rollups and log agree on all {}.", count(recount.rollups, "request")),
        n => format!("Door, rollups and log do not agree in {}.", count(n as u64, "place")),
    }
}

#[component]
fn Nodes(nodes: Vec<NodeState>, now: OffsetDateTime) -> impl IntoView {
    let rows: Vec<_> = nodes
        .into_iter()
        .map(|node| {
            let class = match node.state {
                Life::Living => "tag",
                Life::Stopped => "tag soft",
                Life::Silent => "tag bad",
            };
            let identity = node.identity.simple().to_string();
            let short = identity[..8].to_owned();
            view! {
                <tr id=format!("node-{identity}")>
                    <th scope="row">{node.host}<span class="why"><code>{short}</code></span></th>
                    <td><span class=class>{node.state.word()}</span></td>
                    <td>{ago(node.heard, now)}</td>
                    <td class="r">{grouped(node.open.max(0) as u64)}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <div role="region" aria-labelledby="nodes-title">
            <h2 id="nodes-title">"Nodes"<small>"a silent one has records in its data folder yet to ship"</small></h2>
            <Table class="compact" columns=vec![("", "Host"), ("", "State"), ("", "Heard"), ("r", "Inside")] rows=rows/>
        </div>
    }
}

fn differences(differences: &[Differs]) -> impl IntoView + use<> {
    let rows: Vec<_> = differences
        .iter()
        .map(|difference| {
            let counts = difference
                .counts
                .iter()
                .map(|(who, count)| format!("{who} {}", grouped((*count).max(0) as u64)));
            view! {
                <tr>
                    <th scope="row">{Dated::Year.second(difference.at)}</th>
                    <td data-label="Length">{difference.grain.clone()}</td>
                    <td data-label="Node">{difference.host.clone()}</td>
                    <td data-label="Of">{difference.of.clone()}</td>
                    <td data-label="Counted">{counts.collect::<Vec<_>>().join(", ")}</td>
                </tr>
            }
        })
        .collect();
    view! {
        <section aria-labelledby="differences-title">
            <h2 id="differences-title">"Where they differ"</h2>
            <Table columns=vec![("", "From"), ("", "Length"), ("", "Node"), ("", "Of"), ("", "Counted")] rows=rows/>
        </section>
    }
}
