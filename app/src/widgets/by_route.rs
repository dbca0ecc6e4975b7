//! A partner's routes, a line each.

use leptos::prelude::*;

use super::address::Address;
use super::ends::{EndsBar, ends};
use super::table::Table;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::grouped;
use crate::domain::stage::Stage;

#[component]
pub fn ByRoute(
    routes: Vec<(String, Funnel)>,
    /// The list of requests, with the window.
    behind: Address,
) -> impl IntoView {
    if routes.is_empty() {
        return None;
    }
    let row = move |(name, funnel): (String, Funnel)| {
        let refused: u64 = Stage::ALL
            .iter()
            .filter(|stage| **stage != Stage::Cache)
            .map(|stage| funnel.stage(*stage).stopped)
            .sum();
        let cached = funnel.stage(Stage::Cache).stopped;
        let p95 = funnel.latency.p95.map_or("–".to_owned(), |p95| p95.words());
        let name = if name.is_empty() { "no route".to_owned() } else { name };
        let (id, href) = (format!("route-{name}"), behind.with("route", Some(&name)).href());
        view! {
            <tr id=id>
                <th scope="row"><a href=href>{name}</a></th>
                <td class="bar-cell"><EndsBar ends=ends(&funnel)/></td>
                <td class="r" data-label="Requests">{grouped(funnel.arrived)}</td>
                <td class="r" data-label="Stopped">{grouped(refused)}</td>
                <td class="r" data-label="From cache">{grouped(cached)}</td>
                <td class="r" data-label="Reached">{grouped(funnel.reached_upstream)}</td>
                <td class="r" data-label="p95">{p95}</td>
            </tr>
        }
    };
    let columns = vec![
        ("", "Route"),
        ("bar-cell", "Ended at"),
        ("r", "Requests"),
        ("r", "Stopped"),
        ("r", "From cache"),
        ("r", "Reached the upstream"),
        ("r", "p95 at the upstream"),
    ];
    Some(view! {
        <section aria-labelledby="routes-title">
            <h2 id="routes-title">"By route"<small>"where the requests of each ended, in the colours of the stages"</small></h2>
            <Table class="by-route" columns=columns rows={routes.into_iter().map(row).collect::<Vec<_>>()}/>
        </section>
    })
}
