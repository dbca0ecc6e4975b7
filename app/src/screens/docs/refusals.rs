//! Every way in which a request can fail, from the list that the gateway itself goes by.

use leptos::prelude::*;

use crate::domain::outcome::{Fault, Outcome, Where};
use crate::domain::stage::Stage;

/// The stage under whose heading an outcome stands; `None`: it can happen at any.
fn heading(outcome: Outcome) -> Option<Stage> {
    match outcome.place() {
        Where::At(stage) => Some(stage),
        Where::RouteOrProxy => Some(Stage::Route),
        Where::Anywhere => None,
    }
}

/// By stage, in their order; those of any stage at the end.
fn groups() -> Vec<(Option<Stage>, Vec<Outcome>)> {
    let stages = Stage::ALL.into_iter().map(Some).chain([None]);
    let of = |stage| {
        let all = Outcome::ALL.iter().copied();
        all.filter(|outcome| heading(*outcome) == stage && outcome.fault() != Fault::Nobody).collect()
    };
    stages.map(|stage| (stage, of(stage))).collect()
}

#[component]
pub fn RefusalTable() -> impl IntoView {
    let body = groups().into_iter().map(|(stage, outcomes)| {
        let (class, title) = match stage {
            Some(stage) => (format!("stage-{}", stage.name()), format!("{} stage", stage.title())),
            None => (String::new(), "Any stage".to_owned()),
        };
        view! {
            <tbody class=class>
                <tr class="group"><th scope="colgroup" colspan="3"><span class="dot" aria-hidden="true"></span>{title}</th></tr>
                {outcomes.into_iter().map(row).collect_view()}
            </tbody>
        }
    });
    view! {
        <section aria-labelledby="refusals-title">
            <h2 id="refusals-title">"What each refusal means"<small>"the body is application/problem+json and says it too"</small></h2>
            <table class="list refusals">
                <thead>
                    <tr>
                        <th scope="col">"X-Toll-Outcome"</th>
                        <th scope="col">"What it means, and what to do"</th>
                        <th scope="col">"Who must act"</th>
                    </tr>
                </thead>
                {body.collect_view()}
            </table>
        </section>
    }
}

fn row(outcome: Outcome) -> impl IntoView {
    let advice = outcome.advice();
    let status = match outcome.status() {
        0 | 499 => "no answer, or the stored one".to_owned(),
        status => status.to_string(),
    };
    view! {
        <tr id=outcome.name()>
            <th scope="row"><code>{outcome.name()}</code><span class="why">{status}</span></th>
            <td class="told">{advice.means}" "<span class="mend">{advice.mend}</span></td>
            <td class="who-acts">{outcome.who_acts()}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_that_is_no_service_is_explained_once() {
        let explained: Vec<_> = groups().into_iter().flat_map(|(_, outcomes)| outcomes).collect();
        let failures = Outcome::ALL.iter().filter(|outcome| outcome.fault() != Fault::Nobody);
        assert_eq!(explained.len(), failures.clone().count());
        assert!(failures.into_iter().all(|outcome| explained.contains(outcome)));
    }
}
