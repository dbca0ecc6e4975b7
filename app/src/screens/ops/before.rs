//! The window against the one of the same length before it.

use leptos::prelude::*;

use crate::domain::change::{difference, relative};
use crate::domain::funnel::Funnel;
use crate::domain::numbers::grouped;
use crate::domain::stage::Stage;
use crate::widgets::books::stage_line;
use crate::widgets::table::Table;

#[component]
pub fn Before(
    now: Funnel,
    before: Option<Funnel>,
    /// The window ends with the minute that is running.
    is_live: bool,
) -> impl IntoView {
    let fills = (is_live && before.is_some()).then_some("its last minute still fills");
    view! {
        <div aria-labelledby="before-title" role="region">
            <h2 id="before-title">"Against the window before"<small>{fills}</small></h2>
            {match before {
                Some(before) => table(&now, &before).into_any(),
                None => view! { <p class="hint">"The books do not reach back over all of it yet."</p> }.into_any(),
            }}
        </div>
    }
}

fn table(now: &Funnel, before: &Funnel) -> impl IntoView + use<> {
    let rows: Vec<_> = lines(now, before)
        .into_iter()
        .map(|(class, name, now, before)| {
            view! {
                <tr class=class>
                    <th scope="row"><span class="dot" aria-hidden="true"></span>{name}</th>
                    <td class="r">{grouped(now)}</td>
                    <td class="r soft before">{grouped(before)}</td>
                    <td class="r">{difference(now, before)}</td>
                    <td class="r">{relative(now, before)}</td>
                </tr>
            }
        })
        .collect();
    let columns =
        vec![("", "Line"), ("r", "Now"), ("r before", "Before"), ("r", "Change"), ("unseen", "In per cent")];
    view! { <Table class="compact" columns=columns rows=rows/> }
}

/// As in the books: what could not be sent and what is in flight have lines only if there was any.
fn lines(now: &Funnel, before: &Funnel) -> Vec<(&'static str, &'static str, u64, u64)> {
    let mut lines = vec![("total", "Arrived", now.arrived, before.arrived)];
    for stage in Stage::ALL {
        let (now, before) = (now.stage(stage).stopped, before.stage(stage).stopped);
        if stage != Stage::Proxy || now + before > 0 {
            lines.push((stage.class_of_ends(), stage_line(stage), now, before));
        }
    }
    let in_flight = |funnel: &Funnel| funnel.in_flight.unwrap_or(0);
    if in_flight(now) + in_flight(before) > 0 {
        lines.push(("in-flight", "In flight", in_flight(now), in_flight(before)));
    }
    let (now, before) = (now.reached_upstream, before.reached_upstream);
    lines.push(("total stage-proxy", "Reached the upstream", now, before));
    lines
}
