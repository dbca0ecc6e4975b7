//! `/invite/<token>`: whoever holds the link sets a password and is in.

pub mod api;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::api::{accept_invitation, invitation};
use crate::people::{INVITATION_HOURS, Invitation};
use crate::posted::Draft;
use crate::screens::link;
use crate::widgets::door::{Door, KnownEmail, NewPassword};
use crate::widgets::field::{Field, Problem};

#[component]
pub fn Invite() -> impl IntoView {
    let token = use_params_map().get_untracked().get("token").unwrap_or_default();
    let found = invitation(token.clone());
    link::page(
        "Invitation",
        INVITATION_HOURS,
        found,
        |form| accept_invitation(token, form.get("email"), form.get("password")),
        |invited, draft| view! { <Form invited=invited draft=draft/> }.into_any(),
    )
}

#[component]
fn Form(invited: Invitation, draft: Draft) -> impl IntoView {
    let role = match &invited.partner {
        Some(partner) => format!("You will see the traffic of {partner}."),
        None => "You will be an operator: you see everything.".to_owned(),
    };
    let email = match invited.email {
        Some(email) => view! { <KnownEmail email=email/> }.into_any(),
        None => view! {
            <Field name="email" label="E-mail" kind="email" autocomplete="username" autofocus=true value=draft.typed.get("email")/>
        }
        .into_any(),
    };
    view! {
        <Door title="Welcome" lead=format!("{role} Choose a password, and you are in.")>
            <form method="post">
                {email}
                <NewPassword/>
                <Problem text=draft.problem/>
                <button>"Create account"</button>
            </form>
            <p class="hint">"You have an account? "<a href="/">"Sign in"</a></p>
        </Door>
    }
}
