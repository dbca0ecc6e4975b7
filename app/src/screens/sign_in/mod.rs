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
    let address = Address::current();
    let next = address.get("next").unwrap_or_default().to_owned();
    let is_new = address.get("welcome").is_some();
    let work = async {
        let viewer = who().await.ok().flatten();
        // The door opens without the database knowing plans: whoever signs in is told what is wrong then.
        let sign_up = api::may_sign_up().await.unwrap_or(false);
        Ok((viewer, sign_up))
    };
    let viewer = after(work, move |(viewer, sign_up)| match viewer {
        Some(viewer) => view! { <Redirect path=viewer.home()/> }.into_any(),
        None => view! { <Form next=next is_new=is_new sign_up=sign_up/> }.into_any(),
    });
    view! {
        <Title text="Sign in"/>
        {viewer}
    }
}

#[component]
fn Form(
    next: String,
    /// Whether somebody has just signed up.
    is_new: bool,
    /// Whether one may.
    sign_up: bool,
) -> impl IntoView {
    let action = ServerAction::<api::SignIn>::new();
    let problem = action.value().get_untracked().and_then(Result::err).map(|error| error.to_string());
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"Where did the requests go?"</h1>
                <p class="door-lead">
                    {match is_new {
                        true => "If the address had no account yet, it has one now. Sign in with it.",
                        false => "Sign in to see them: from the door, through six stages, to your upstreams.",
                    }}
                </p>
                <ActionForm action=action>
                    <input type="hidden" name="next" value=next/>
                    <Field name="email" label="E-mail" kind="email" autocomplete="username" autofocus=true/>
                    <Field name="password" label="Password" kind="password" autocomplete="current-password"/>
                    <Problem text=problem/>
                    <button>"Sign in"</button>
                </ActionForm>
                <p class="hint">
                    {match sign_up {
                        true => view! { "No account yet? "<a href="/sign-up">"Sign up"</a>"." }.into_any(),
                        false => "No account yet? An operator of this gateway can send you a link.".into_any(),
                    }}
                    " An operator can also send a link when the password is lost."
                </p>
            </div>
        </main>
    }
}
