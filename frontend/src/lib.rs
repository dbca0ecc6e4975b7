//! Wakes up the islands in the page that the server rendered. The page calls each by its name.

// For the functions that it exports, one an island.
use app as _;
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_islands();
}
