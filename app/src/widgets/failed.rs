//! What a screen shows in place of itself when its data did not come.

use http::header::REFRESH;
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::hooks::use_location;
use leptos_router::location::Url;

use crate::error::{AGAIN_SECONDS, Error};
use crate::screens::screen::after;
use crate::session::Viewer;
use crate::session::viewer::who;
use crate::widgets::address::Address;
use crate::widgets::header::Header;

/// Strangers are led to the sign-in and back here afterwards; everyone else reads what is wrong and what to do. Who is known has
/// the way to all other pages.
#[component]
pub fn Failed(error: Error, viewer: Option<Viewer>) -> impl IntoView {
    if error == Error::SignedOut {
        return SignedOut().into_any();
    }
    // A page that failed before it asked anybody has its status from here.
    error.tell_status();
    let (title, advice) = match &error {
        Error::Forbidden => ("Not yours to see", "Sign in as somebody else, or ask an operator."),
        Error::NotFound => ("Nothing here", "The address may be mistyped, or what it named is gone."),
        Error::Unreachable => ("No connection", "Toll did not answer. Look at your network, then try again."),
        Error::Away => (
            "No database",
            "Nothing that was counted is lost. This page tries again by itself every few seconds.",
        ),
        Error::Invalid(_) => (
            "Not understood",
            "The address, or the form, says what Toll does not know. Begin anew from the start.",
        ),
        _ => ("That failed", "Try again in a moment."),
    };
    let way_on = match error {
        Error::Away => view! { <AskAgain/> }.into_any(),
        _ => view! { <p><a href="/">"To the start"</a></p> }.into_any(),
    };
    let brand = viewer.is_none().then(|| view! { <p class="brand">"Toll"</p> });
    let header = viewer.map(|viewer| {
        view! {
            <a class="skip" href="#content">"To the content"</a>
            <Header viewer=viewer here="" address=Address::current()/>
        }
    });
    view! {
        <Title text=title/>
        {header}
        <main id="content" class="wrap notice">
            {brand}
            <p class="notice-code">{error.status()}</p>
            <h1>{error.to_string()}</h1>
            <p>{advice}</p>
            {way_on}
        </main>
    }
    .into_any()
}

/// By a header, which needs no script. A function answers nothing but forms, so who sent one starts anew.
#[component]
fn AskAgain() -> impl IntoView {
    let asked = use_context::<Parts>();
    let is_form = asked.as_ref().is_some_and(|asked| asked.method == Method::POST);
    let is_function = asked.as_ref().is_some_and(|asked| asked.uri.path().starts_with("/_fn/"));
    let (address, refresh) = match is_function {
        true => ("/", format!("{AGAIN_SECONDS}; url=/")),
        false => ("", AGAIN_SECONDS.to_string()),
    };
    if let (Some(response), Ok(refresh)) =
        (use_context::<leptos_axum::ResponseOptions>(), HeaderValue::from_str(&refresh))
    {
        response.insert_header(REFRESH, refresh);
    }
    // It may have come through before the answer was lost.
    let form = "The form that you sent may not have been kept: look before you send it again.";
    view! {
        {is_form.then(|| view! { <p>{form}</p> })}
        <p><a href=address>"Try now"</a></p>
    }
}

/// The page in place of all others while the database is away.
#[component]
pub fn Away() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|title: String| format!("{title} · Toll")/>
        <Failed error=Error::Away viewer=None/>
    }
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
    // That leaves programs which do not ask for HTML with a 200.
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(StatusCode::FOUND);
    }
    view! {
        <main id="content" class="wrap notice">
            <p class="brand">"Toll"</p>
            <h1>"You are signed out."</h1>
            <p><a href=door>"Sign in"</a></p>
        </main>
    }
}

/// The page for an address that names nothing.
#[component]
pub fn NotFound() -> impl IntoView {
    let viewer = async { Ok(who().await.ok().flatten()) };
    after(viewer, |viewer| view! { <Failed error=Error::NotFound viewer=viewer/> }.into_any())
}
