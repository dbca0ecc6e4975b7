//! What the numbers mean, as sentences: the most important first, and larger.

use leptos::prelude::*;

use super::headline::Said;
use crate::domain::verdict::{Part, Rule, Tone, Verdict};

#[component]
pub fn Verdicts(
    verdicts: Vec<Verdict>,
    /// What is said first if nobody must act.
    otherwise: String,
) -> impl IntoView {
    if verdicts.is_empty() {
        return view! { <Said text=otherwise/> }.into_any();
    }
    let is_well = verdicts.iter().all(|verdict| verdict.tone == Tone::Good);
    let first = is_well.then(|| view! { <Said text=otherwise/> });
    let items: Vec<_> = verdicts.into_iter().map(item).collect();
    view! {
        {first}
        <ul class="verdicts" aria-label="Verdicts">{items}</ul>
    }
    .into_any()
}

fn item(verdict: Verdict) -> impl IntoView {
    let Verdict { rule, tone, sentence, href } = verdict;
    let parts: Vec<_> = sentence
        .0
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => text.into_any(),
            // A name and a number carry the sentence alike.
            Part::Code(text) => view! { <b>{text}</b> }.into_any(),
            Part::Strong(text) => view! { <b class="figure">{text}</b> }.into_any(),
        })
        .collect();
    let evidence = evidence(&href);
    view! { <li class=class(rule, tone)>{parts}" "<a href=href>{evidence}</a></li> }
}

/// The colour of the stage that it is about; of none, if it is about the upstreams themselves.
fn class(rule: Rule, tone: Tone) -> &'static str {
    match (rule, tone) {
        (Rule::Loud | Rule::Mine, Tone::Alarm | Tone::Notice) => "stage-quota",
        (Rule::Loud | Rule::Mine, Tone::Good) => "stage-proxy",
        (Rule::Quiet, Tone::Good) => "stage-proxy",
        (Rule::Quiet, _) => "stage-breaker",
        (Rule::Upstream, _) => "at-fault",
        (Rule::Slow, _) => "stage-proxy",
        (Rule::Keys | Rule::Door, _) => "stage-key",
        (Rule::Cache, _) => "stage-cache",
    }
}

/// By the screen that shows it.
fn evidence(href: &str) -> &'static str {
    let path = href.split('?').next().unwrap_or_default();
    match path.rsplit('/').next().unwrap_or_default() {
        "requests" => "the requests →",
        "upstreams" if href.contains("upstream=") => "the upstream →",
        "upstreams" => "the upstreams →",
        "cache" => "the cache →",
        "routes" => "the routes →",
        "latency" => "the latency →",
        _ => "the evidence →",
    }
}
