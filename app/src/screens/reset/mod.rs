//! `/reset/<token>`: whoever holds the link that an operator gave sets a new password.

pub mod api;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::api::{password_reset, reset_password};
use crate::people::RESET_HOURS;
use crate::posted::Draft;
use crate::screens::link;
use crate::widgets::door::{Door, KnownEmail, NewPassword};
use crate::widgets::field::Problem;

#[component]
pub fn Reset() -> impl IntoView {
    let token = use_params_map().get_untracked().get("token").unwrap_or_default();
    let found = password_reset(token.clone());
    link::page(
        "New password",
        RESET_HOURS,
        found,
        |form| reset_password(token, form.get("password")),
        |email, draft| view! { <Form email=email draft=draft/> }.into_any(),
    )
}

#[component]
fn Form(email: String, draft: Draft) -> impl IntoView {
    view! {
        <Door title="A new password" lead="It takes the place of the old one, and signs you out wherever you are signed in.">
            <form method="post">
                <KnownEmail email=email/>
                <NewPassword label="New password"/>
                <Problem text=draft.problem/>
                <button>"Set password"</button>
            </form>
        </Door>
    }
}
