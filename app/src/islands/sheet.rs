//! Opens small pages in a dialog. A link marked `data-sheet` leads to a page with a `.sheet`, which works by itself; with
//! scripts that sheet is fetched into a dialog instead, its form is sent from there, and the answer's sheet takes its place.
//! So there is one form and one answer, with scripts and without.

use leptos::html;
use leptos::prelude::*;

/// One a page. Before it closes over a secret that was not copied, it asks.
#[island]
pub fn Sheets() -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    #[cfg(feature = "hydrate")]
    Effect::new(move |_| {
        if let Some(dialog) = dialog.get() {
            in_the_browser::follow(&dialog);
        }
    });
    view! {
        <dialog node_ref=dialog class="sheets" aria-labelledby="sheet-title">
            <form method="dialog"><button class="quiet close" aria-label="Close">"×"</button></form>
            <div class="inside"></div>
            <div class="ask" role="alertdialog" aria-labelledby="ask-title" hidden=true>
                <p id="ask-title">"You have not copied it, and it is shown this once only."</p>
                <button type="button" data-stay="">"Back to it"</button>
                <button type="button" class="quiet" data-leave="">"Close without it"</button>
            </div>
        </dialog>
    }
}

#[cfg(feature = "hydrate")]
mod in_the_browser {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen(module = "/src/islands/sheet.js")]
    extern "C" {
        /// Links of the page open in this dialog from now on.
        pub fn follow(dialog: &web_sys::HtmlDialogElement);
    }
}
