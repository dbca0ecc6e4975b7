//! What is around every screen of somebody who has signed in.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::address::Address;
use super::field::Problem;
use super::header::Header;
use super::stills::Stills;
use super::window_picker::WindowPicker;
use crate::domain::window::Window;
use crate::islands::live::Live;
use crate::session::{Role, Viewer};

/// Header, title, the bar with the window if the screen has one, and the screen. A window that moves, and a screen without
/// one, are kept current unless the address says otherwise.
#[component]
pub fn Frame(
    /// The heading; said aloud only, where the bar asks a question instead.
    title: String,
    /// The page in the navigation that this one is, or belongs to.
    here: &'static str,
    viewer: Viewer,
    address: Address,
    /// The window that is shown.
    window: Option<Window>,
    /// From when on there is anything to show.
    kept_since: Option<OffsetDateTime>,
    /// What the bar says in front of the window.
    #[prop(into)]
    asks: String,
    /// Whether the page stays as it is.
    is_still: bool,
    children: Children,
) -> impl IntoView {
    let is_live = !is_still && !address.is_paused() && (window.is_none() || address.span().is_live());
    let span = address.span();
    let wrong = window.and_then(|_| address.named_span().err());
    let stills = window.map(|window| {
        view! { <Stills address=address.clone() window=window viewer=viewer.clone()/> }
    });
    let is_suspended = matches!(viewer.role, Role::Partner { is_suspended: true, .. });
    let suspended = is_suspended.then(|| {
        view! { <p class="problem">"You are suspended: all your requests are refused. Ask the operator."</p> }
    });
    view! {
        <a class="skip" href="#content">"To the content"</a>
        <Header viewer=viewer here=here address=address.clone()/>
        <main id="content" class="wrap">
            <div class="bar">
                <h1 class="asked">
                    {if asks.is_empty() { title } else { asks }}
                    {window.map(|window| view! { <span class="when">{span.dated(window).window(window)}" UTC"</span> })}
                </h1>
                {window.map(|window| view! { <WindowPicker address=address.clone() shown=window kept_since=kept_since/> })}
            </div>
            {suspended}
            {wrong.map(|error| view! { <Problem text=Some(format!("What is shown is the last hour: {error}."))/> })}
            {stills}
            {is_live.then(|| view! { <Live/> })}
            {children()}
        </main>
    }
}
