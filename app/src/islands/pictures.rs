//! Saving the charts of a page as pictures.

use leptos::prelude::*;

/// A button, once there is a chart that can be saved.
#[island]
pub fn SavePictures() -> impl IntoView {
    let can_save = RwSignal::new(false);
    #[cfg(feature = "hydrate")]
    in_the_browser::watch(can_save);
    let save = move |_| {
        #[cfg(feature = "hydrate")]
        in_the_browser::save();
    };
    view! { <button type="button" class="as-link" title="Each chart as a picture" hidden=move || !can_save.get() on:click=save>"PNG"</button> }
}

#[cfg(feature = "hydrate")]
mod in_the_browser {
    use leptos::prelude::*;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::*;

    use crate::islands::chart::pictures::{DRAWN, any_drawn, pictures};

    /// Charts say when they are drawn.
    pub fn watch(can_save: RwSignal<bool>) {
        can_save.set(any_drawn());
        window_event_listener_untyped(DRAWN, move |_| can_save.set(true));
    }

    pub fn save() {
        for (name, picture) in pictures() {
            if let Err(cause) = download(&name, &picture) {
                leptos::logging::warn!("a picture was not saved: {cause:?}");
            }
        }
    }

    fn download(name: &str, address: &str) -> Result<(), JsValue> {
        let link: web_sys::HtmlElement = document().create_element("a")?.unchecked_into();
        link.set_attribute("href", address)?;
        link.set_attribute("download", &format!("toll-{name}.png"))?;
        link.click();
        Ok(())
    }
}
