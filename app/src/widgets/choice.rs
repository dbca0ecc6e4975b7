//! One of several, as a labelled list to choose from.

use leptos::prelude::*;

#[component]
pub fn Choice(
    /// Also the id.
    name: &'static str,
    label: &'static str,
    /// Value, and what it says.
    options: Vec<(String, String)>,
    chosen: String,
    #[prop(optional)] hint: Option<String>,
) -> impl IntoView {
    let hint_id = hint.is_some().then(|| format!("{name}-hint"));
    let options: Vec<_> = options
        .into_iter()
        .map(|(value, words)| {
            let is_on = value == chosen;
            view! { <option value=value selected=is_on>{words}</option> }
        })
        .collect();
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <select id=name name=name aria-describedby=hint_id.clone()>{options}</select>
            {hint.map(|hint| view! { <p class="hint" id=hint_id>{hint}</p> })}
        </div>
    }
}

/// Yes or no.
#[component]
pub fn Check(
    name: &'static str,
    label: &'static str,
    is_on: bool,
    /// What it means to tick it.
    hint: &'static str,
) -> impl IntoView {
    view! {
        <div class="field check">
            <input type="checkbox" id=name name=name value="true" checked=is_on aria-describedby=format!("{name}-hint")/>
            <label for=name>{label}</label>
            <p class="hint" id=format!("{name}-hint")>{hint}</p>
        </div>
    }
}
