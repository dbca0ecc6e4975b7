//! `/reset/<token>`: whoever holds the link that an operator gave sets a new password.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use self::api::{password_reset, reset_password};
use crate::error::Error;
use crate::people::MIN_PASSWORD;
use crate::posted::Posted;
use crate::screens::screen::after;
use crate::widgets::field::{Field, Problem};

enum Shown {
    Form {
        email: String,
        problem: Option<String>,
    },
    Over,
    /// The answer leads on.
    Done,
}

#[component]
pub fn Reset() -> impl IntoView {
    let token = use_params_map().get_untracked().get("token").unwrap_or_default();
    let action = format!("/reset/{token}");
    let page = after(shown(token, Posted::current()), move |shown| match shown {
        Shown::Form { email, problem } => {
            view! { <Form email=email action=action problem=problem/> }.into_any()
        }
        Shown::Over => Over().into_any(),
        Shown::Done => ().into_any(),
    });
    view! {
        <Title text="New password"/>
        {page}
    }
}

async fn shown(token: String, posted: Option<Posted>) -> Result<Shown, Error> {
    let Some(email) = password_reset(token.clone()).await? else { return Ok(Shown::Over) };
    let Some(form) = posted else { return Ok(Shown::Form { email, problem: None }) };
    match reset_password(token, form.get("password")).await {
        Ok(()) => Ok(Shown::Done),
        Err(Error::Invalid(problem)) => Ok(Shown::Form { email, problem: Some(problem) }),
        Err(error) => Err(error),
    }
}

#[component]
fn Form(email: String, action: String, problem: Option<String>) -> impl IntoView {
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"A new password"</h1>
                <p class="door-lead">"It takes the place of the old one, and signs you out wherever you are signed in."</p>
                <p class="door-mail">{email.clone()}</p>
                <form method="post" action=action>
                    // Read by password managers, ignored by Toll.
                    <input type="hidden" name="email" autocomplete="username" value=email/>
                    <Field name="password" label="New password" kind="password" autocomplete="new-password" min_length=MIN_PASSWORD
                        hint=format!("At least {MIN_PASSWORD} characters. A sentence is easier to keep in mind.")/>
                    <Problem text=problem/>
                    <button>"Set password"</button>
                </form>
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
                <p class="door-lead">"It was used, or it is older than 24 hours. Ask an operator for a new one."</p>
                <p><a href="/">"Sign in"</a></p>
            </div>
        </main>
    }
}
