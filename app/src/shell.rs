//! The document around the app, with a content security policy that lets nothing run but what it names.

use http::HeaderValue;
use http::header::CONTENT_SECURITY_POLICY;
use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_axum::ResponseOptions;
use leptos_meta::MetaTags;

use crate::site::Assets;

/// Around `page`.
pub fn shell<V: IntoView>(assets: &Assets, page: impl FnOnce() -> V) -> impl IntoView {
    let nonce = use_nonce().map(|nonce| nonce.to_string()).unwrap_or_default();
    set_policy(&nonce);
    let Assets { js, wasm, css, echarts } = assets.clone();
    // Nothing outside the islands is hydrated, so nothing need be told to the browser about it.
    if let Some(shared) = Owner::current_shared_context() {
        shared.set_is_hydrating(false);
    }
    let start = format!("const [js, wasm] = [{js:?}, {wasm:?}];\n{WAKE}");
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <meta name="toll-echarts" content=echarts/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <link rel="stylesheet" href=css/>
                <link rel="modulepreload" href=js nonce=nonce.clone()/>
                <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin="anonymous"/>
                <MetaTags/>
                <script type="module" nonce=nonce>{start}</script>
            </head>
            <body>{page()}</body>
        </html>
    }
}

/// Each island is a function of the module, by its name. `tollWake` is for islands that come later.
const WAKE: &str = "
const toll = await import(js);
await toll.default({ module_or_path: wasm });
toll.hydrate();
globalThis.tollWake = (island) => toll[island.dataset.component](island);
document.querySelectorAll('leptos-island').forEach(globalThis.tollWake);
";

/// Scripts only with this response's nonce, or added by such a script; styles from our own files, no style attributes.
fn set_policy(nonce: &str) {
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    if let (Some(response), Ok(policy)) = (use_context::<ResponseOptions>(), HeaderValue::from_str(&policy)) {
        response.insert_header(CONTENT_SECURITY_POLICY, policy);
    }
}
