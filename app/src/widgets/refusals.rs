//! What a partner was refused, why, and what to do about it.

use std::cmp::Reverse;

use leptos::prelude::*;

use super::address::Address;
use super::table::Table;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::{grouped, percent};
use crate::domain::outcome::{Fault, Outcome};
use crate::domain::stage::Stage;

/// Requests that ended badly in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    stage: Stage,
    outcome: Outcome,
    requests: u64,
}

/// Everything that was no service, most frequent first.
pub fn refused(funnel: &Funnel) -> Vec<Refused> {
    let mut all: Vec<_> = funnel
        .stages
        .iter()
        .flat_map(|line| line.outcomes.iter().map(|(name, requests)| (line.stage, name, *requests)))
        .filter_map(|(stage, name, requests)| {
            Some(Refused { stage, outcome: Outcome::from_name(name)?, requests })
        })
        .filter(|refused| refused.requests > 0 && refused.outcome.fault() != Fault::Nobody)
        .collect();
    all.sort_by_key(|refused| Reverse(refused.requests));
    all
}

#[component]
pub fn Refusals(
    funnel: Funnel,
    /// The list of requests, with the window.
    behind: Address,
    /// Whether somebody else than the partner reads it.
    #[prop(optional)]
    is_ops: bool,
) -> impl IntoView {
    let rows = refused(&funnel);
    if funnel.arrived == 0 {
        return None;
    }
    let body = match rows.is_empty() {
        true => view! { <p class="hint">"Nothing was refused in this window."</p> }.into_any(),
        false => table(rows, funnel.arrived, &behind, is_ops).into_any(),
    };
    Some(view! {
        <section aria-labelledby="refusals-title">
            <h2 id="refusals-title">"What was refused, and why"</h2>
            {body}
        </section>
    })
}

fn table(rows: Vec<Refused>, arrived: u64, behind: &Address, is_ops: bool) -> impl IntoView + use<> {
    let row = |Refused { stage, outcome, requests }: Refused| {
        let advice = outcome.advice();
        let who = match outcome.fault() {
            Fault::Caller if is_ops => "the partner",
            _ => outcome.who_acts(),
        };
        let href = behind.with("stage", Some(stage.name())).with("outcome", Some(outcome.name())).href();
        view! {
            <tr id=format!("refused-{}-{}", stage.name(), outcome.name()) class=format!("stage-{}", stage.name())>
                <th scope="row">
                    <span class="dot" aria-hidden="true"></span><a href=href>{outcome.title()}</a>
                    <span class="why">{stage.name()}" stage, "{status(outcome)}</span>
                </th>
                <td class="r">{grouped(requests)}<span class="share">{percent(requests, arrived)}</span></td>
                <td class="told">{advice.means}" "<span class="mend">{advice.mend}</span></td>
                <td class="who-acts">{who}</td>
            </tr>
        }
    };
    // The advice is in words for the partner.
    let told = if is_ops { "What the partner is told" } else { "What it means, and what to do" };
    let columns = vec![("", "Refusal"), ("r", "Requests"), ("", told), ("", "Who must act")];
    view! {
        <Table class="refusals" columns=columns rows={rows.into_iter().map(row).collect::<Vec<_>>()}/>
    }
}

fn status(outcome: Outcome) -> String {
    match outcome.status() {
        0 => "the answer’s own status".into(),
        499 => "no answer".into(),
        status => status.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::funnel::{Counts, Line};
    use crate::domain::window::Window;

    #[test]
    fn what_was_served_is_no_refusal_and_the_most_frequent_comes_first() {
        let line =
            |stage, outcome, requests| Line { stage, outcome, reached: false, upstream_class: 0, requests };
        let lines = vec![
            line(Stage::Cache, Outcome::CacheHit, 9),
            line(Stage::Quota, Outcome::QuotaSpent, 2),
            line(Stage::Quota, Outcome::QuotaEarlyRetry, 7),
            line(Stage::Proxy, Outcome::Forwarded, 100),
            line(Stage::Proxy, Outcome::UpstreamTimeout, 3),
        ];
        let window =
            Window::new(datetime!(2026-01-01 10:00 UTC), datetime!(2026-01-01 11:00 UTC)).expect("forward");
        let funnel = Funnel::new(window, &Counts { lines, ..Counts::default() });
        let told: Vec<_> =
            refused(&funnel).iter().map(|refused| (refused.outcome, refused.requests)).collect();
        assert_eq!(
            told,
            [(Outcome::QuotaEarlyRetry, 7), (Outcome::UpstreamTimeout, 3), (Outcome::QuotaSpent, 2)]
        );
    }
}
