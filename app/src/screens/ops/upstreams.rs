//! How each upstream is: its breaker now, and its answers in the window.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::books::UpstreamHealth;
use crate::domain::numbers::{grouped, percent};
use crate::domain::window::Window;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

#[component]
pub fn Upstreams(upstreams: Vec<UpstreamHealth>, window: Window, address: Address) -> impl IntoView {
    let all = address.elsewhere("/ops/upstreams").href();
    let dated = address.span().dated(window);
    let since = |at: OffsetDateTime| format!(" since {}", dated.enough(at, window.to).second(at));
    let rows: Vec<_> = upstreams
        .into_iter()
        .map(|upstream| {
            let since = upstream.open_since.map(since);
            row(upstream, since)
        })
        .collect();
    let columns = vec![("", "Upstream"), ("", "Breaker"), ("r", "Reached"), ("r", "5xx"), ("r", "Held back")];
    let none = view! { <p class="hint">"No upstream yet: declare one in a file for "<code>"toll apply"</code>"."</p> };
    view! {
        <div aria-labelledby="upstreams-title" role="region">
            <h2 id="upstreams-title">"Upstreams"<small>"the breaker now, "<a href=all>"its history"</a></small></h2>
            <Table class="compact" columns=columns rows=rows otherwise=none.into_any()/>
        </div>
    }
}

fn row(upstream: UpstreamHealth, since: Option<String>) -> impl IntoView {
    let UpstreamHealth { name, state, reached, failed, silent, held, unreachable, .. } = upstream;
    let (class, word) = match state.as_str() {
        "closed" => ("tag", "closed"),
        "half_open" => ("tag warn", "half-open"),
        _ => ("tag bad", "open"),
    };
    let share = if reached == 0 { "–".to_owned() } else { percent(failed, reached) };
    // One in twenty is worth a colour.
    let is_bad = failed * 20 > reached;
    let mut why = Vec::new();
    if silent > 0 {
        why.push(format!("{} without an answer", grouped(silent)));
    }
    if unreachable > 0 {
        why.push(format!("{} without a connection", grouped(unreachable)));
    }
    view! {
        <tr id=format!("upstream-{name}")>
            <th scope="row">{name.clone()}<span class="why">{why.join(" · ")}</span></th>
            <td><span class=class>{word}</span><span class="soft">{since}</span></td>
            <td class="r">{grouped(reached)}</td>
            <td class="r" class:bad=is_bad>{share}</td>
            <td class="r">{grouped(held)}</td>
        </tr>
    }
}
