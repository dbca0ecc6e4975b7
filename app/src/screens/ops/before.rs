//! The window against the one of the same length before it.

use leptos::prelude::*;

use crate::domain::change::{difference, relative};
use crate::domain::ends::Ends;
use crate::domain::numbers::grouped;
use crate::domain::stage::Stage;
use crate::widgets::books::stage_line;
use crate::widgets::table::Table;

#[component]
pub fn Before(now: Ends, before: Ends) -> impl IntoView {
    let rows: Vec<_> = lines(&now, &before)
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
    view! {
        <div aria-labelledby="before-title" role="region">
            <h2 id="before-title">"Against the window before"</h2>
            <Table class="compact" columns=columns rows=rows/>
        </div>
    }
}

/// What could not be sent has a line only if there was any, as in the books.
fn lines(now: &Ends, before: &Ends) -> Vec<(String, &'static str, u64, u64)> {
    let mut lines = vec![("total".to_owned(), "Arrived", now.arrived(), before.arrived())];
    for stage in Stage::ALL {
        let (now, before) = (now.at(stage), before.at(stage));
        if stage != Stage::Proxy || now + before > 0 {
            lines.push((format!("stage-{}", stage.name()), stage_line(stage), now, before));
        }
    }
    lines.push(("total stage-proxy".into(), "Reached the upstream", now.reached, before.reached));
    lines
}
