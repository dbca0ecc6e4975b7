//! `/`: the sign-in. Whoever is signed in already is led on.

pub mod api;

use leptos::form::ActionForm;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::Redirect;

use crate::screens::screen::after;
use crate::session::viewer::who;
use crate::widgets::address::Address;
use crate::widgets::field::{Field, Problem};

#[component]
pub fn SignIn() -> impl IntoView {
    let next = Address::current().get("next").unwrap_or_default().to_owned();
    let viewer = after(async { Ok(who().await.ok().flatten()) }, |viewer| match viewer {
        Some(viewer) => view! { <Redirect path=viewer.home()/> }.into_any(),
        None => view! { <Form next=next/> }.into_any(),
    });
    view! {
        <Title text="Sign in"/>
        {viewer}
    }
}

#[component]
fn Form(next: String) -> impl IntoView {
    let action = ServerAction::<api::SignIn>::new();
    let problem = action.value().get_untracked().and_then(Result::err).map(|error| error.to_string());
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"Where did the requests go?"</h1>
                <p class="door-lead">"Sign in to see them: from the door, through six stages, to your upstreams."</p>
                <ActionForm action=action>
                    <input type="hidden" name="next" value=next/>
                    <Field name="email" label="E-mail" kind="email" autocomplete="username" autofocus=true/>
                    <Field name="password" label="Password" kind="password" autocomplete="current-password"/>
                    <Problem text=problem/>
                    <button>"Sign in"</button>
                </ActionForm>
                <p class="hint">"No account yet? An operator of this gateway can send you a link."</p>
            </div>
        </main>
    }
}
