//! `/`: the sign-in. Whoever is signed in already is led on.

pub mod api;

use leptos::form::ActionForm;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::components::Redirect;
use leptos_router::hooks::use_query_map;

use crate::screens::viewer::who;
use crate::widgets::field::{Field, Problem};
use crate::widgets::waiting::Waiting;

#[component]
pub fn SignIn() -> impl IntoView {
    let viewer = Resource::new_blocking(|| (), |_| who());
    view! {
        <Title text="Sign in"/>
        <Suspense fallback=Waiting>
            {move || Suspend::new(async move {
                match viewer.await {
                    Ok(Some(viewer)) => view! { <Redirect path=viewer.home()/> }.into_any(),
                    _ => view! { <Form/> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn Form() -> impl IntoView {
    let query = use_query_map();
    let next = move || query.read().get("next").unwrap_or_default();
    let action = ServerAction::<api::SignIn>::new();
    let problem =
        Signal::derive(move || action.value().get().and_then(Result::err).map(|error| error.to_string()));
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
                    <button disabled=move || action.pending().get()>"Sign in"</button>
                </ActionForm>
                <p class="hint">"No account yet? An operator of this gateway can send you a link."</p>
            </div>
        </main>
    }
}
