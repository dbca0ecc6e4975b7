//! Each route: served and not, drawn, with the reasons.

use leptos::prelude::*;

use crate::cache_use::CacheUse;
use crate::domain::numbers::{duration, grouped, lower_first, percent, span_words};
use crate::domain::stage::Stage;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

#[component]
pub fn Routes(routes: Vec<CacheUse>, requests: Address) -> impl IntoView {
    if routes.is_empty() {
        return view! {
            <div class="empty">
                <p>"A route caches what its upstream allows to be stored, once its cache is switched on:"</p>
                <pre tabindex="0"><code>"[[route]]\nname = \"orders\"\ncache = true\ncache_ttl = \"30s\"   # for answers without freshness of their own"</code></pre>
            </div>
        }
        .into_any();
    }
    let columns = vec![
        ("", "Route"),
        ("r", "Asked"),
        ("r", "Served"),
        ("unseen", "Drawn"),
        ("r", "Ratio"),
        ("r", "Calls saved"),
        ("r", "Time saved"),
        ("", "Misses by cause"),
    ];
    let rows: Vec<_> = routes.into_iter().map(|route| row(&route, &requests)).collect();
    view! {
        <section aria-labelledby="cache-title">
            <h2 id="cache-title">"By route"<small>"of the requests that came as far as the cache"</small></h2>
            <div class="wide" tabindex="0">
                <Table class="cache-use" columns=columns rows=rows/>
            </div>
        </section>
    }
    .into_any()
}

fn row(route: &CacheUse, requests: &Address) -> impl IntoView + use<> {
    let behind = requests.with("route", Some(&route.route)).with("stage", Some(Stage::Cache.name()));
    let hits = route.hits();
    let served = match hits {
        0 => "0".into_any(),
        _ => view! { <a href=behind.href()>{grouped(hits)}</a> }.into_any(),
    };
    let how: Vec<_> =
        route.served.iter().map(|(how, n)| format!("{} {}", grouped(*n), lower_first(how.title()))).collect();
    let why: Vec<_> =
        route.misses.iter().map(|(why, n)| format!("{} {}", grouped(*n), why.words())).collect();
    let width = format!("{:.2}%", hits as f64 / route.asked.max(1) as f64 * 100.0);
    let off = (!route.is_cached).then_some(" (cache now off)");
    view! {
        <tr class="stage-cache">
            <th scope="row">{route.route.clone()}<span class="soft">{off}</span></th>
            <td class="r" data-label="Asked">{grouped(route.asked)}</td>
            <td class="r" data-label="Served">{served}</td>
            <td class="bar-cell">
                <svg class="share" width="100%" aria-hidden="true"><rect class="whole" width="100%" height="100%"/><rect height="100%" width=width/></svg>
                <span class="why">{how.join(" · ")}</span>
            </td>
            <td class="r" data-label="Ratio">{percent(hits, route.asked)}</td>
            <td class="r" data-label="Calls saved">{grouped(route.saved_calls())}</td>
            <td class="r" data-label="Time saved">{saved(route.saved_us())}</td>
            <td class="causes" data-label="Misses">{why.join(" · ")}</td>
        </tr>
    }
}

/// Microseconds, as the first line has them; of less than a second, how much.
fn saved(micros: u64) -> String {
    match micros {
        1..1_000_000 => duration(micros),
        _ => span_words(time::Duration::microseconds(micros as i64)),
    }
}

#[cfg(test)]
mod tests {
    use super::saved;

    #[test]
    fn time_that_was_saved_is_told_to_the_second_and_below_that_in_milliseconds() {
        assert_eq!([0, 169_000, 479_300_000].map(saved), ["0 s", "169 ms", "7 min 59 s"]);
    }
}
