//! A screen whose numbers are on their way.

use leptos::prelude::*;

/// Holds the place of a table, so that nothing jumps when it comes.
#[component]
pub fn Waiting() -> impl IntoView {
    view! {
        <main id="content" class="wrap waiting" aria-busy="true">
            <p class="visually-hidden" role="status">"Loading"</p>
            <div class="waiting-lines" aria-hidden="true"><i></i><i></i><i></i><i></i><i></i></div>
        </main>
    }
}
