//! A secret that is shown once: masked, with an eye and a copy button. Without scripts it stands there to be selected.

use leptos::ev::Event;
use leptos::prelude::*;

#[cfg(feature = "hydrate")]
use super::copy::clipboard;

/// `data-secret` is on the element until it has been copied: a dialog asks before it closes over one.
#[island]
pub fn Secret(
    /// The key, or the link.
    text: String,
    /// What it is, said aloud: "key".
    name: String,
    /// A command to paste, around the secret; empty for none.
    before: String,
    after: String,
) -> impl IntoView {
    let is_awake = RwSignal::new(false);
    let is_shown = RwSignal::new(false);
    let copied = RwSignal::new(None::<&'static str>);
    let is_safe = RwSignal::new(false);
    Effect::new(move |_| is_awake.set(true));

    let masked = mask(&text);
    let visible = {
        let text = text.clone();
        move || if is_awake.get() && !is_shown.get() { masked.clone() } else { text.clone() }
    };
    let has_command = !before.is_empty();
    let command = format!("{before}{text}{after}");
    let shown_command = {
        let visible = visible.clone();
        move || format!("{before}{}{after}", visible())
    };
    let copy = move |what: String, which: &'static str| {
        #[cfg(feature = "hydrate")]
        leptos::task::spawn_local(async move {
            let done = clipboard::put(&what).await;
            is_safe.update(|safe| *safe |= done);
            // What cannot be copied is shown, to be selected.
            is_shown.update(|shown| *shown |= !done);
            copied.set(done.then_some(which));
        });
        #[cfg(not(feature = "hydrate"))]
        let _ = (what, which, copied, is_safe);
    };
    // Whoever selects dots means what they stand for.
    let copy_selected = move |event: Event, what: String, which| {
        if is_shown.get() {
            is_safe.set(true);
        } else {
            event.prevent_default();
            copy(what, which);
        }
    };
    let (selected, selected_command) = (text.clone(), command.clone());
    let copy_secret = {
        let text = text.clone();
        move |_| copy(text.clone(), "secret")
    };
    let copy_command = move |_| copy(command.clone(), "command");
    let word = move |which| if copied.get() == Some(which) { "Copied" } else { "Copy" };
    view! {
        <div class="secret-box" data-secret=move || (!is_safe.get()).then_some("")>
            <div class="secret">
                <code on:copy=move |event| copy_selected(event.into(), selected.clone(), "secret")>{visible}</code>
                <button type="button" class="quiet" hidden=move || !is_awake.get()
                    aria-pressed=move || is_shown.get().to_string() aria-label=format!("Show the {name}")
                    on:click=move |_| is_shown.update(|shown| *shown = !*shown)>
                    {move || if is_shown.get() { "Hide" } else { "Show" }}
                </button>
                <button type="button" autofocus=true hidden=move || !is_awake.get() aria-label=format!("Copy the {name}")
                    on:click=copy_secret>
                    {move || word("secret")}
                </button>
            </div>
            <div class="snippet" hidden=!has_command>
                <pre tabindex="0"><code on:copy=move |event| copy_selected(event.into(), selected_command.clone(), "command")>{shown_command}</code></pre>
                <button type="button" class="quiet copy" hidden=move || !is_awake.get() aria-label="Copy the curl command"
                    on:click=copy_command>
                    {move || word("command")}
                </button>
            </div>
            <p class="visually-hidden" role="status">{move || copied.get().map(|_| "Copied.")}</p>
        </div>
    }
}

/// The first ten characters, as screens show them anyway, and dots for the rest.
fn mask(text: &str) -> String {
    let start: String = text.chars().take(10).collect();
    let hidden = text.chars().count().saturating_sub(10);
    start + &"•".repeat(hidden.min(33))
}
