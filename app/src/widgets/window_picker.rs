//! The time window, in the URL: links for the usual ones, a form for any other. Works without scripts.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use time::OffsetDateTime;

use crate::domain::span::{OFFERED, Span};
use crate::domain::window::Window;

/// What the URL says now.
pub fn use_span() -> Memo<Span> {
    let query = use_query_map();
    Memo::new(move |_| {
        let query = query.read();
        Span::from_url(query.get_str("last"), query.get_str("from"), query.get_str("to"))
    })
}

/// Whether the URL asks for numbers that stay as they are: `live=off`.
pub fn use_is_paused() -> Memo<bool> {
    let query = use_query_map();
    Memo::new(move |_| query.read().get_str("live") == Some("off"))
}

#[component]
pub fn WindowPicker(
    span: Memo<Span>,
    paused: Memo<bool>,
    /// What is shown, to begin a custom window from.
    #[prop(into)]
    shown: Signal<Window>,
) -> impl IntoView {
    let keep_paused = move || if paused.get() { "&live=off" } else { "" };
    let offers = OFFERED.map(|(value, name)| {
        let is_on = move || matches!(span.get(), Span::Last(_)) && span.get().to_string() == value;
        view! {
            <a href=move || format!("?last={value}{}", keep_paused()) aria-current=move || is_on().then_some("true")>
                {name}
            </a>
        }
    });
    let toggle = move || {
        let off = if paused.get() { "" } else { "&live=off" };
        format!("?{}{off}", span.get().to_url())
    };
    view! {
        <div class="picker">
            {move || span.get().is_live().then(|| view! {
                <a class="live" class:on=move || !paused.get() href=toggle>
                    <span class="live-dot" aria-hidden="true"></span>
                    {move || if paused.get() { "Paused" } else { "Live" }}
                    <span class="visually-hidden">{move || if paused.get() { ", go on" } else { ", pause" }}</span>
                </a>
            })}
            <nav class="win" aria-label="Time window">{offers.collect_view()}</nav>
            <details class="custom" class:on=move || !span.get().is_live()>
                <summary>"Custom"</summary>
                <form method="get">
                    <label>"From (UTC)"
                        <input type="datetime-local" name="from" required=true prop:value=move || local(shown.get().from) value=local(shown.get_untracked().from)/>
                    </label>
                    <label>"To (UTC)"
                        <input type="datetime-local" name="to" required=true prop:value=move || local(shown.get().to) value=local(shown.get_untracked().to)/>
                    </label>
                    <button>"Show"</button>
                </form>
            </details>
        </div>
    }
    .into_any()
}

fn local(at: OffsetDateTime) -> String {
    format!("{}T{:02}:{:02}", at.date(), at.hour(), at.minute())
}
