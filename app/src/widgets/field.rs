//! One labelled input of a form.

use leptos::prelude::*;

#[component]
pub fn Field(
    /// Also the id.
    name: &'static str,
    label: &'static str,
    #[prop(default = "text")] kind: &'static str,
    /// What browsers and password managers fill in.
    autocomplete: &'static str,
    #[prop(optional)] hint: Option<String>,
    #[prop(optional)] min_length: Option<usize>,
    #[prop(optional)] autofocus: bool,
    /// What it says to begin with.
    #[prop(optional)]
    value: Option<String>,
    #[prop(default = true)] required: bool,
) -> impl IntoView {
    let hint_id = hint.is_some().then(|| format!("{name}-hint"));
    view! {
        <div class="field">
            <label for=name>{label}</label>
            <input
                id=name name=name type=kind autocomplete=autocomplete value=value required=required autofocus=autofocus
                minlength=min_length.map(|n| n.to_string()) aria-describedby=hint_id.clone()
            />
            {hint.map(|hint| view! { <p class="hint" id=hint_id>{hint}</p> })}
        </div>
    }
}

/// What is wrong with a form, said aloud as soon as it is known.
#[component]
pub fn Problem(text: Option<String>) -> impl IntoView {
    view! { <p class="problem" role="alert">{text}</p> }
}
