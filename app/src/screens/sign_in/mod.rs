//! `/`: the sign-in. Whoever is signed in already is led on.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use self::api::{Ways, sign_in, ways_in};
use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::after;
use crate::session::safe_path;
use crate::session::viewer::who;
use crate::widgets::address::Address;
use crate::widgets::door::Door;
use crate::widgets::field::{Field, Problem};

enum Shown {
    Form {
        draft: Draft,
        ways: Ways,
    },
    /// The answer leads on.
    SignedIn,
}

#[component]
pub fn SignIn() -> impl IntoView {
    let address = Address::current();
    let next = address.get("next").unwrap_or_default().to_owned();
    let is_new = address.get("welcome").is_some();
    let page = after(shown(Posted::current(), next), move |shown| match shown {
        Shown::Form { draft, ways } => view! { <Form draft=draft is_new=is_new ways=ways/> }.into_any(),
        Shown::SignedIn => ().into_any(),
    });
    view! {
        <Title text="Sign in"/>
        {page}
    }
}

async fn shown(posted: Option<Posted>, next: String) -> Result<Shown, Error> {
    let draft = match posted {
        Some(form) => {
            let done = sign_in(form.get("email"), form.get("password"), next).await;
            match form.judge(done)? {
                Ok(()) => return Ok(Shown::SignedIn),
                Err(draft) => draft,
            }
        }
        None => {
            if let Some(viewer) = who().await? {
                leptos_axum::redirect(safe_path(&next).unwrap_or(viewer.home()));
                return Ok(Shown::SignedIn);
            }
            Draft::default()
        }
    };
    Ok(Shown::Form { draft, ways: ways_in().await? })
}

#[component]
fn Form(
    draft: Draft,
    /// Whether somebody has just signed up.
    is_new: bool,
    ways: Ways,
) -> impl IntoView {
    let lead = match is_new {
        true => "If the address had no account yet, it has one now. Sign in with it.",
        false => "Sign in to see them: from the door, through six stages, to your upstreams.",
    };
    // Whoever mistyped a password goes on with the password.
    let (email, is_again) = (draft.typed.get("email"), draft.problem.is_some());
    view! {
        <Door title="Where did the requests go?" lead=lead>
            {ways.is_deserted.then(|| view! { <FirstOfAll/> })}
            <form method="post">
                <Field name="email" label="E-mail" kind="email" autocomplete="username" autofocus=!is_again value=email/>
                <Field name="password" label="Password" kind="password" autocomplete="current-password" autofocus=is_again/>
                <Problem text=draft.problem/>
                <button>"Sign in"</button>
            </form>
            {(!ways.is_deserted || ways.sign_up).then(|| view! { <Otherwise sign_up=ways.sign_up/> })}
        </Door>
    }
}

/// Where the first operator's link is.
#[component]
fn FirstOfAll() -> impl IntoView {
    view! {
        <section class="first" aria-labelledby="first-title">
            <h2 id="first-title">"Nobody has an account yet."</h2>
            <p><code>"toll serve"</code>" printed a link when it started: it makes the first operator. This makes another:"</p>
            <pre><code>"toll users invite --role ops --email you@example.com"</code></pre>
        </section>
    }
}

/// What to do without an account, or without a password.
#[component]
fn Otherwise(sign_up: bool) -> impl IntoView {
    view! {
        <p class="hint">
            {match sign_up {
                true => view! { "No account yet? "<a href="/sign-up">"Sign up"</a>"." }.into_any(),
                false => "No account yet? An operator of this gateway can send you a link.".into_any(),
            }}
            " An operator can also send a link when the password is lost."
        </p>
    }
}
