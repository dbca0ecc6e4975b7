//! A button that copies. Without scripts it is not there: the text beside it can be selected.

use leptos::prelude::*;

#[island]
pub fn Copy(text: String, name: String) -> impl IntoView {
    // Nothing is promised before it can be kept.
    let is_awake = RwSignal::new(false);
    let copied = RwSignal::new(None::<bool>);
    Effect::new(move |_| is_awake.set(true));
    let copy = move |_| {
        #[cfg(feature = "hydrate")]
        {
            let text = text.clone();
            leptos::task::spawn_local(async move {
                copied.set(Some(clipboard::put(&text).await));
            });
        }
        #[cfg(not(feature = "hydrate"))]
        let _ = &text;
    };
    view! {
        <button type="button" class="quiet copy" hidden=move || !is_awake.get() on:click=copy aria-label=format!("Copy {name}")>
            {move || if copied.get() == Some(true) { "Copied" } else { "Copy" }}
        </button>
        <span class="visually-hidden" role="status">
            {move || match copied.get() {
                Some(true) => "Copied.",
                Some(false) => "The browser does not let this page copy: select the text instead.",
                None => "",
            }}
        </span>
    }
}

#[cfg(feature = "hydrate")]
pub mod clipboard {
    use wasm_bindgen::prelude::*;

    #[wasm_bindgen(module = "/src/islands/clipboard.js")]
    extern "C" {
        #[wasm_bindgen(js_name = copy)]
        async fn copy_text(text: &str) -> JsValue;
    }

    /// Whether the text is in the clipboard now.
    pub async fn put(text: &str) -> bool {
        copy_text(text).await.as_bool().unwrap_or(false)
    }
}
