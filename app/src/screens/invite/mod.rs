//! `/invite/<token>`: whoever holds the link sets a password and is in.

pub mod api;

use leptos::form::ActionForm;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use self::api::{AcceptInvitation, Invited, invitation};
use crate::screens::screen::after;
use crate::widgets::field::{Field, Problem};

#[component]
pub fn Invite() -> impl IntoView {
    let token = use_params_map().get_untracked().get("token").unwrap_or_default();
    let form = after(invitation(token.clone()), |invited| match invited {
        Some(invited) => view! { <Form invited=invited token=token/> }.into_any(),
        None => Over().into_any(),
    });
    view! {
        <Title text="Invitation"/>
        {form}
    }
}

#[component]
fn Form(invited: Invited, token: String) -> impl IntoView {
    let action = ServerAction::<AcceptInvitation>::new();
    let problem = action.value().get_untracked().and_then(Result::err).map(|error| error.to_string());
    let role = match &invited.partner {
        Some(partner) => format!("You will see the traffic of {partner}."),
        None => "You will be an operator: you see everything.".to_owned(),
    };
    let email = match invited.email {
        Some(email) => view! {
            <p class="door-mail">{email.clone()}</p>
            // Read by password managers, ignored by Toll: the link says who it is for.
            <input type="hidden" name="email" autocomplete="username" value=email/>
        }
        .into_any(),
        None => {
            view! { <Field name="email" label="E-mail" kind="email" autocomplete="username" autofocus=true/> }
                .into_any()
        }
    };
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"Welcome"</h1>
                <p class="door-lead">{role}" Choose a password, and you are in."</p>
                <ActionForm action=action>
                    <input type="hidden" name="token" value=token/>
                    {email}
                    <Field name="password" label="Password" kind="password" autocomplete="new-password"
                        min_length=invited.min_password
                        hint=format!("At least {} characters. A sentence is easier to keep in mind.", invited.min_password)/>
                    <Problem text=problem/>
                    <button>"Create account"</button>
                </ActionForm>
            </div>
        </main>
    }
}

#[component]
fn Over() -> impl IntoView {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::GONE);
    }
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"This link is over"</h1>
                <p class="door-lead">"It was used, or it is older than 72 hours. Ask an operator for a new one."</p>
                <p><a href="/">"Sign in"</a></p>
            </div>
        </main>
    }
}
