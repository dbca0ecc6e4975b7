//! Forgetting what is stored, on all nodes; and what was forgotten lately.

use leptos::prelude::*;
use time::OffsetDateTime;

use crate::domain::moment::Dated;
use crate::domain::purge::Purge;
use crate::posted::Draft;
use crate::widgets::field::Problem;
use crate::widgets::table::Table;

/// Kinds as `domain::purge` reads them, and what they are called.
const KINDS: [(&str, &str); 3] = [("url", "One URL"), ("prefix", "All that begins with"), ("tag", "The tag")];

#[component]
pub fn Purges(purges: Vec<Purge>, now: OffsetDateTime, draft: Draft) -> impl IntoView {
    let Draft { typed, problem } = draft;
    let kind = typed.get("kind");
    let kinds =
        KINDS.map(|(value, words)| view! { <option value=value selected=kind == value>{words}</option> });
    let rows: Vec<_> = purges.iter().map(|purge| row(purge, now)).collect();
    let columns = vec![("", "Forgotten (UTC)"), ("", "What"), ("", "By whom")];
    view! {
        <section aria-labelledby="purge-title">
            <h2 id="purge-title">"Purge"<small>"every node forgets it within a second"</small></h2>
            <Problem text=problem/>
            <form method="post" class="purge">
                <label>"Forget" <select name="kind">{kinds.into_iter().collect_view()}</select></label>
                <label class="target">
                    <span>"Path or tag"</span>
                    <input name="target" required=true maxlength="2048" placeholder="/api/orders/7" value=typed.get("target")/>
                </label>
                <button>"Purge"</button>
            </form>
            <Table class="purges" columns=columns rows=rows/>
        </section>
    }
}

fn row(purge: &Purge, now: OffsetDateTime) -> impl IntoView + use<> {
    let words = KINDS.iter().find(|(kind, _)| *kind == purge.target.kind()).map_or("", |(_, words)| *words);
    view! {
        <tr id=format!("purge-{}", purge.seq)>
            <td>{Dated::of(purge.at, now).second(purge.at)}</td>
            <td>{words}" "<code>{purge.target.text().to_owned()}</code></td>
            <td>{purge.by.clone()}</td>
        </tr>
    }
}
