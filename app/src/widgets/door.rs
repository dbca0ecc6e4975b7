//! Where people come in: a sheet in the middle of an empty page, and what its forms have in common.

use leptos::prelude::*;

use super::field::Field;
use crate::people::MIN_PASSWORD;

#[component]
pub fn Door(title: &'static str, #[prop(into)] lead: String, children: Children) -> impl IntoView {
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>{title}</h1>
                <p class="door-lead">{lead}</p>
                {children()}
            </div>
        </main>
    }
}

/// Whose password it is, where a link says so. Read by password managers, ignored by Toll.
#[component]
pub fn KnownEmail(email: String) -> impl IntoView {
    view! {
        <p class="door-mail">{email.clone()}</p>
        <input type="hidden" name="email" autocomplete="username" value=email/>
    }
}

#[component]
pub fn NewPassword(#[prop(default = "Password")] label: &'static str) -> impl IntoView {
    view! {
        <Field name="password" label=label kind="password" autocomplete="new-password" min_length=MIN_PASSWORD
            hint=format!("At least {MIN_PASSWORD} characters. A sentence is easier to keep in mind.")/>
    }
}
