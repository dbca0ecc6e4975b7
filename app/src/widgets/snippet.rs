//! Something to paste: text, and a button that copies it.

use leptos::prelude::*;

use crate::islands::copy::Copy;

#[component]
pub fn Snippet(
    #[prop(into)] text: String,
    /// What is copied, said aloud: "the curl command".
    #[prop(into)]
    name: String,
) -> impl IntoView {
    view! {
        <div class="snippet">
            <pre tabindex="0"><code>{text.clone()}</code></pre>
            <Copy text=text name=name/>
        </div>
    }
}

/// A request with a key, as a shell takes it.
pub fn curl(gateway: &str, path: &str, key: &str) -> String {
    format!("curl -i -H 'X-Api-Key: {key}' '{gateway}{path}'")
}
