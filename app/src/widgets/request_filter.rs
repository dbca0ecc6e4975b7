//! Restricting a list of requests: what is chosen as links that take it away, and a form for more.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::requests::Choices;
use crate::requests::asked::{Asked, NAMES};

#[component]
pub fn RequestFilter(asked: Asked, choices: Choices, address: Address) -> impl IntoView {
    let newest = address.with("live", None);
    let chosen: Vec<_> = asked
        .words()
        .into_iter()
        .map(|(name, words)| {
            let href = newest.with(name, None).href();
            let words = match name {
                "key" => key_name(&choices, &words),
                _ => words,
            };
            view! {
                <li><a href=href>{words}<span aria-hidden="true">" ×"</span><span class="visually-hidden">", remove"</span></a></li>
            }
        })
        .collect();
    let mut others = NAMES.to_vec();
    others.extend(["before", "live"]);
    // What the form has no field for goes along.
    others.retain(|name| {
        !matches!(*name, "upstream" | "answer" | "latency") && (*name != "key" || !choices.keys.is_empty())
    });
    let kept: Vec<_> = newest
        .parameters_without(&others)
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
        .collect();
    let is_open = !chosen.is_empty();
    view! {
        <div class="filters">
            {is_open.then(|| view! { <ul class="chosen" aria-label="Shown are only requests that">{chosen}</ul> })}
            <details>
                <summary>{if is_open { "Change the filter" } else { "Filter" }}</summary>
                <form method="get" class="filter">
                    {kept}
                    <label>"Stage" {stages(asked.get("stage"))}</label>
                    <label>"Outcome" {outcomes(asked.get("outcome"))}</label>
                    <label>"Route" {names("route", &choices.routes, asked.get("route"))}</label>
                    {(!choices.partners.is_empty())
                        .then(|| view! { <label>"Partner" {names("partner", &choices.partners, asked.get("partner"))}</label> })}
                    {(!choices.keys.is_empty()).then(|| view! { <label>"Key" {keys(&choices, asked.get("key"))}</label> })}
                    <label>
                        "Status"
                        <input
                            name="status" value=asked.get("status").map(str::to_owned) placeholder="429 or 4xx" size="10"
                            pattern="[1-5](xx|[0-9][0-9])" title="A status such as 429, or a class such as 4xx"
                        />
                    </label>
                    <button>"Show"</button>
                </form>
            </details>
        </div>
    }
}

/// "key 7" as the name of that key.
fn key_name(choices: &Choices, words: &str) -> String {
    let id = words.trim_start_matches("key ");
    let found = choices.keys.iter().find(|(key, _)| key.to_string() == id);
    found.map_or_else(|| words.to_owned(), |(_, name)| format!("key {name}"))
}

fn option(value: String, text: String, chosen: Option<&str>) -> impl IntoView + use<> {
    let is_on = chosen == Some(value.as_str());
    view! { <option value=value selected=is_on>{text}</option> }
}

fn stages(chosen: Option<&str>) -> impl IntoView + use<> {
    let stages = Stage::ALL.map(|stage| option(stage.name().into(), stage.title().into(), chosen));
    view! { <select name="stage"><option value="">"Any"</option>{stages.into_iter().collect_view()}</select> }
}

fn outcomes(chosen: Option<&str>) -> impl IntoView + use<> {
    let groups = Stage::ALL.map(|stage| {
        let outcomes = Outcome::ALL.iter().filter(|outcome| outcome.belongs_to(stage));
        let own =
            outcomes.filter(|outcome| Stage::ALL.iter().filter(|s| outcome.belongs_to(**s)).count() == 1);
        let options: Vec<_> = own.map(|o| option(o.name().into(), o.title().into(), chosen)).collect();
        view! { <optgroup label=stage.title()>{options}</optgroup> }
    });
    let anywhere =
        Outcome::ALL.iter().filter(|o| Stage::ALL.iter().filter(|s| o.belongs_to(**s)).count() > 1);
    let anywhere: Vec<_> = anywhere.map(|o| option(o.name().into(), o.title().into(), chosen)).collect();
    view! {
        <select name="outcome">
            <option value="">"Any"</option>
            {groups.into_iter().collect_view()}
            <optgroup label="Several stages">{anywhere}</optgroup>
        </select>
    }
}

/// More are not looked through, but typed.
const OFFERED: usize = 200;

fn names(name: &'static str, all: &[String], chosen: Option<&str>) -> impl IntoView + use<> {
    if all.len() > OFFERED {
        return view! { <input name=name value=chosen.map(str::to_owned)/> }.into_any();
    }
    // What is retired is no choice, but may be chosen by a link.
    let retired = chosen.filter(|chosen| !all.iter().any(|name| name == chosen)).map(str::to_owned);
    let all = all.iter().cloned().chain(retired);
    let options: Vec<_> = all.map(|name| option(name.clone(), name, chosen)).collect();
    view! { <select name=name><option value="">"Any"</option>{options}</select> }.into_any()
}

fn keys(choices: &Choices, chosen: Option<&str>) -> impl IntoView + use<> {
    let options = choices.keys.iter().map(|(id, name)| option(id.to_string(), name.clone(), chosen));
    let options: Vec<_> = options.collect();
    view! { <select name="key"><option value="">"Any"</option>{options}</select> }
}
