//! `/r/<request id>`: what became of one request, stage by stage.

pub mod api;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::domain::moment::{instant, milliseconds};
use crate::domain::numbers::{count, grouped};
use crate::domain::outcome::Fault;
use crate::domain::receipt::{Progress, Receipt, Step};
use crate::receipt::Found;
use crate::screens::screen::Screen;
use crate::session::Role;
use crate::widgets::by_itself::ByItself;
use crate::widgets::headline::Said;

#[component]
pub fn ReceiptPage() -> impl IntoView {
    let id = use_params_map().get_untracked().get("id").unwrap_or_default();
    let fetch = {
        let id = id.clone();
        async { Ok((None, api::receipt(id).await?)) }
    };
    // One that is there does not change any more.
    Screen::new("Receipt", "/portal/requests").show(fetch, move |found, viewer| match found {
        Found::Receipt(receipt) => {
            let is_ops = viewer.role == Role::Ops;
            view! { <Shown receipt=*receipt is_ops=is_ops/> }.into_any()
        }
        Found::NotYet => view! { <NotYet id=id/> }.into_any(),
    })
}

/// The page looks again, where scripts run.
#[component]
fn NotYet(id: String) -> impl IntoView {
    view! {
        <Said text="This receipt is being written down."/>
        <div class="empty">
            <p>"A request is in the log a moment after it has ended."</p>
            <ByItself>"Waiting for "<code>{id}</code>". The receipt appears here by itself."</ByItself>
        </div>
    }
}

#[component]
fn Shown(receipt: Receipt, is_ops: bool) -> impl IntoView {
    let advice = receipt.outcome.advice();
    let mend = (receipt.outcome.fault() != Fault::Nobody).then_some(advice.mend);
    let steps: Vec<_> = receipt.steps().into_iter().map(step).collect();
    view! {
        <Said text=sentence(&receipt)/>
        <section aria-labelledby="path-title">
            <h2 id="path-title">"Its way"<small class="mono">{receipt.id.to_string()}</small></h2>
            <ol class="path">{steps}</ol>
            <dl class="facts">
                {fact("Answer", receipt.answer())}
                {fact("Rule", receipt.rule())}
                {mend.map(|mend| fact("What to do", mend.to_owned()))}
                {receipt.bucket().map(|bucket| fact("Bucket", bucket))}
                {cache(&receipt).map(|words| fact("Cache", words))}
                {upstream(&receipt).map(|words| fact("Upstream", words))}
                {fact("Time", time(&receipt))}
            </dl>
        </section>
        <section aria-labelledby="request-title">
            <h2 id="request-title">"The request"</h2>
            <dl class="facts">
                {fact("Arrived", format!("{} UTC", instant(receipt.at)))}
                {is_ops.then(|| receipt.partner.clone().map(|partner| fact("Partner", partner)))}
                {receipt.key.as_ref().map(|key| fact("Key", format!("{} ({}…)", key.name, key.start)))}
                {receipt.route.as_ref().map(|route| fact("Route", route.name.clone()))}
                {fact("Bytes", format!("{} in, {} out", grouped(receipt.bytes_in), grouped(receipt.bytes_out)))}
                {fact("From", receipt.address.clone())}
                {fact("User agent", receipt.user_agent.clone())}
                {fact("X-Request-Id", receipt.request_id.clone())}
            </dl>
        </section>
    }
}

/// "GET /api/orders was refused at the quota stage: retried too early."
fn sentence(receipt: &Receipt) -> String {
    let what = format!("{} {}", receipt.method, receipt.path);
    let title = crate::domain::numbers::lower_first(receipt.outcome.title());
    match (receipt.outcome.fault(), receipt.reached) {
        (Fault::Nobody, true) => format!("{what} was answered {} by the upstream.", receipt.upstream_status),
        (Fault::Nobody, false) => {
            format!("{what} was answered at the {} stage: {title}.", receipt.stage.name())
        }
        (_, true) => format!("{what} reached the upstream, but: {title}."),
        (_, false) => format!("{what} went no further than the {} stage: {title}.", receipt.stage.name()),
    }
}

fn step(step: Step) -> impl IntoView {
    let state = match step.progress {
        Progress::Passed => "done",
        Progress::Answered => "at",
        Progress::NotAsked => "",
    };
    let said = match step.progress {
        Progress::Answered => Some(view! { <span class="visually-hidden">" answered"</span> }),
        _ => None,
    };
    view! {
        <li class=format!("{state} stage-{}", step.stage.name()) aria-current=(step.progress == Progress::Answered).then_some("step")>
            {step.stage.title()}{said}
            <small>{step.note}</small>
            <small class="ms">{step.micros.map(milliseconds)}</small>
        </li>
    }
}

fn fact(name: &'static str, words: String) -> impl IntoView {
    view! { <dt>{name}</dt><dd>{words}</dd> }
}

fn cache(receipt: &Receipt) -> Option<String> {
    receipt.cache_miss.map(|miss| format!("passed it: {}", miss.words()))
}

fn upstream(receipt: &Receipt) -> Option<String> {
    if !receipt.reached && receipt.target.is_empty() {
        return None;
    }
    let mut words = match (receipt.reached, receipt.upstream_status) {
        (false, _) => "was not reached".to_owned(),
        (true, 0) => "gave no answer".to_owned(),
        (true, status) => format!("answered {status}"),
    };
    if receipt.upstream_calls > 1 {
        words += &format!(" after {}", count(receipt.upstream_calls.into(), "call"));
    }
    if !receipt.target.is_empty() {
        words += &format!(", at {}", receipt.target);
    }
    Some(words)
}

/// "0.61 ms, of which 0.40 ms in the quota stage".
fn time(receipt: &Receipt) -> String {
    let longest = receipt.steps().into_iter().filter_map(|step| Some((step.micros?, step.stage))).max();
    let mut words = milliseconds(receipt.duration_us);
    if let Some((micros, stage)) = longest.filter(|(micros, _)| *micros > 0) {
        words += &format!(", of which {} in the {} stage", milliseconds(micros), stage.name());
    }
    words
}
