//! What a page does by itself where scripts run, and what to do where they do not.

use leptos::prelude::*;

/// What is promised where scripts run; elsewhere, how to see what is new.
#[component]
pub fn ByItself(children: Children) -> impl IntoView {
    view! {
        <p class="hint with-scripts" role="status">{children()}</p>
        <p class="hint without-scripts">"Scripts are off, so this page stays as it is. "<a href="">"Load it again"</a>" to see what is new."</p>
    }
}
