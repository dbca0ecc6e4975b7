//! The time window, in the URL: links for the usual ones, a form for any other.

use leptos::prelude::*;
use time::OffsetDateTime;

use super::address::Address;
use crate::domain::span::{OFFERED, Span};
use crate::domain::window::Window;

#[component]
pub fn WindowPicker(
    address: Address,
    /// What is shown, to begin a custom window from.
    shown: Window,
) -> impl IntoView {
    let span = address.span();
    let offers = OFFERED.map(|(value, name)| {
        let is_on = matches!(span, Span::Last(_)) && span.to_string() == value;
        let href = address.at(Span::from_url(Some(value), None, None)).href();
        view! { <a href=href aria-current=is_on.then_some("true")>{name}</a> }
    });
    let toggle = span.is_live().then(|| {
        let (state, hint, next) = match address.is_paused() {
            true => ("Paused", ", go on", None),
            false => ("Live", ", pause", Some("off")),
        };
        view! {
            <a class="live" class:on=!address.is_paused() href=address.with("live", next).href()>
                <span class="live-dot" aria-hidden="true"></span>{state}<span class="visually-hidden">{hint}</span>
            </a>
        }
    });
    let kept = address.parameters_without(&["last", "from", "to", "page"]).into_iter();
    let kept: Vec<_> =
        kept.map(|(name, value)| view! { <input type="hidden" name=name value=value/> }).collect();
    view! {
        <div class="picker">
            {toggle}
            <nav class="win" aria-label="Time window">{offers.collect_view()}</nav>
            <details class="custom" class:on=!span.is_live()>
                <summary>"Custom"</summary>
                <form method="get">
                    {kept}
                    <label>"From (UTC)"<input type="datetime-local" name="from" required=true value=local(shown.from)/></label>
                    <label>"To (UTC)"<input type="datetime-local" name="to" required=true value=local(shown.to)/></label>
                    <button>"Show"</button>
                </form>
            </details>
        </div>
    }
}

fn local(at: OffsetDateTime) -> String {
    format!("{}T{:02}:{:02}", at.date(), at.hour(), at.minute())
}
