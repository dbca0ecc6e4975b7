//! A window in which nothing arrived, where there is something in others.

use leptos::prelude::*;

use super::address::Address;
use super::by_itself::ByItself;
use crate::domain::moment::Dated;
use crate::domain::span::Span;
use crate::domain::window::Window;

/// Ways on.
#[component]
pub fn NothingHere(
    /// The page, with its window.
    page: Address,
    /// Where the newest requests are.
    newest: Window,
) -> impl IntoView {
    let at = |span| page.without_window().with("live", None).at(span).href();
    let words = format!("{} UTC", Dated::Year.window(newest));
    let is_hour = page.span() == Span::default();
    view! {
        <div class="empty">
            <p>"The newest requests are in another: "<a href=at(Span::Between(newest))>{words}</a>"."</p>
            {(!is_hour).then(|| view! { <p>"What comes now is in "<a href=at(Span::default())>"the last hour"</a>"."</p> })}
            {page.span().is_live().then(|| view! { <ByItself>"What arrives from now on appears here by itself."</ByItself> })}
        </div>
    }
}

/// Below the example of an empty page: where to look for what is sent now.
#[component]
pub fn Waits(page: Address) -> impl IntoView {
    if page.span().is_live() {
        return view! { <ByItself>"Waiting for the first request. It appears here by itself."</ByItself> }
            .into_any();
    }
    let hour = page.without_window().with("live", None).at(Span::default()).href();
    view! { <p class="hint">"This window is over: what you send now is in "<a href=hour>"the last hour"</a>"."</p> }
        .into_any()
}
