//! What a screen shows in place of itself when its data did not come.

use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;
use leptos_router::location::Url;

use crate::error::Error;

/// Strangers are led to the sign-in and back here afterwards; everyone else reads what is wrong and what to do.
#[component]
pub fn Failed(error: Error) -> impl IntoView {
    if error == Error::SignedOut {
        return SignedOut().into_any();
    }
    // A page that failed before it asked anybody has its status from here.
    if let (Some(response), Ok(status)) =
        (use_context::<leptos_axum::ResponseOptions>(), http::StatusCode::from_u16(error.status()))
    {
        response.set_status(status);
    }
    let (title, advice) = match &error {
        Error::Forbidden => ("Not yours to see", "Sign in as somebody else, or ask an operator."),
        Error::NotFound => ("Nothing here", "The address may be mistyped, or what it named is gone."),
        Error::Unreachable => ("No connection", "Toll did not answer. Look at your network, then try again."),
        _ => ("That failed", "Try again in a moment."),
    };
    view! {
        <Title text=title/>
        <main id="content" class="wrap notice">
            <p class="notice-code">{error.status()}</p>
            <h1>{error.to_string()}</h1>
            <p>{advice}</p>
            <p><a href="/">"To the start"</a></p>
        </main>
    }
    .into_any()
}

#[component]
fn SignedOut() -> impl IntoView {
    let location = use_location();
    let here = format!(
        "{}{}",
        location.pathname.get_untracked(),
        match location.search.get_untracked() {
            search if search.is_empty() => search,
            search => format!("?{search}"),
        }
    );
    let door = format!("/?next={}", Url::escape(&here));
    leptos_axum::redirect(&door);
    view! {
        <main id="content" class="wrap notice">
            <h1>"You are signed out."</h1>
            <p><a href=door>"Sign in"</a></p>
        </main>
    }
}

/// The page for an address that names nothing.
#[component]
pub fn NotFound() -> impl IntoView {
    view! { <Failed error=Error::NotFound/> }
}
