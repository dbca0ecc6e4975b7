//! The time window, in the URL: links for the usual ones, a form for any other.

use leptos::prelude::*;
use time::{Duration, OffsetDateTime};

use super::address::Address;
use crate::domain::span::{OFFERED, Span};
use crate::domain::window::Window;

#[component]
pub fn WindowPicker(
    address: Address,
    /// What is shown, to begin a custom window from.
    shown: Window,
    /// Older windows are not offered.
    kept_since: Option<OffsetDateTime>,
) -> impl IntoView {
    let span = address.span();
    // What is shown ends now, unless it stands still; then the offers do not matter much.
    let is_kept =
        |offer: Span| kept_since.is_none_or(|since| offer.window(shown.to - Duration::SECOND).from >= since);
    let offers = OFFERED.into_iter().filter_map(|(value, name)| {
        let offer: Span = value.parse().ok()?;
        let is_on = matches!(span, Span::Last(_)) && span.to_string() == value;
        let href = address.at(offer).href();
        is_kept(offer).then(|| view! { <a href=href aria-current=is_on.then_some("true")>{name}</a> })
    });
    let earliest = kept_since.map(local);
    let toggle = span.is_live().then(|| {
        let (state, hint, next) = match address.is_paused() {
            true => ("Paused", ", go on", None),
            false => ("Live", ", pause", Some("off")),
        };
        view! {
            <a class="live with-scripts" class:on=!address.is_paused() href=address.with("live", next).href()>
                <span class="live-dot" aria-hidden="true"></span>{state}<span class="visually-hidden">{hint}</span>
            </a>
            <a class="live without-scripts" href=address.href() title="Scripts are off: the page stays as it is until it is loaded again">
                "Load again"
            </a>
        }
    });
    let kept = address.parameters_without(&["last", "from", "to", "page", "before"]).into_iter();
    let kept: Vec<_> =
        kept.map(|(name, value)| view! { <input type="hidden" name=name value=value/> }).collect();
    view! {
        <div class="picker">
            {toggle}
            <nav class="win" aria-label="Time window">{offers.collect::<Vec<_>>()}</nav>
            <details class="custom" class:on=!span.is_live()>
                <summary>"Custom"</summary>
                <form method="get">
                    {kept}
                    <label>"From (UTC)"<input type="datetime-local" name="from" required=true min=earliest.clone() value=local(shown.from)/></label>
                    <label>"To (UTC)"<input type="datetime-local" name="to" required=true min=earliest value=local(shown.to)/></label>
                    <button>"Show"</button>
                </form>
            </details>
        </div>
    }
}

fn local(at: OffsetDateTime) -> String {
    format!("{}T{:02}:{:02}", at.date(), at.hour(), at.minute())
}
