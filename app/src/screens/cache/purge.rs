//! Forgetting what is stored, on all nodes; and what was forgotten lately.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::domain::numbers::moment;
use crate::domain::purge::Purge;
use crate::widgets::field::Problem;

/// Kinds as `domain::purge` reads them, and what they are called.
const KINDS: [(&str, &str); 3] = [("url", "One URL"), ("prefix", "All that begins with"), ("tag", "The tag")];

#[component]
pub fn Purges(purges: Vec<Purge>, now: OffsetDateTime, problem: Option<String>) -> impl IntoView {
    let kinds = KINDS.map(|(value, words)| view! { <option value=value>{words}</option> });
    let rows: Vec<_> = purges.iter().map(|purge| row(purge, now)).collect();
    let list = (!rows.is_empty()).then(|| {
        view! {
            <table class="list purges">
                <thead>
                    <tr>
                        <th scope="col">"Forgotten (UTC)"</th><th scope="col">"What"</th><th scope="col">"By whom"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
    });
    view! {
        <section aria-labelledby="purge-title">
            <h2 id="purge-title">"Purge"<small>"every node forgets it within a second"</small></h2>
            <Problem text=problem/>
            <form method="post" action="/_fn/purge_cache" class="purge">
                <label>"Forget" <select name="kind">{kinds.into_iter().collect_view()}</select></label>
                <label class="target">
                    <span>"Path or tag"</span>
                    <input name="target" required=true maxlength="2048" placeholder="/api/orders/7"/>
                </label>
                <button>"Purge"</button>
            </form>
            {list}
        </section>
    }
}

fn row(purge: &Purge, now: OffsetDateTime) -> impl IntoView + use<> {
    let words = KINDS.iter().find(|(kind, _)| *kind == purge.target.kind()).map_or("", |(_, words)| *words);
    view! {
        <tr id=format!("purge-{}", purge.seq)>
            <td>{moment(purge.at, now)}</td>
            <td>{words}" "<code>{purge.target.text().to_owned()}</code></td>
            <td>{purge.by.clone()}</td>
        </tr>
    }
}
