//! Saving the charts of a page as pictures.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// What all charts of a page show, for those who see the picture and not the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// "All traffic", "Partner acme, route orders"
    pub of: String,
    /// "14:00 to 15:00, 29 November 2026 UTC"
    pub window: String,
}

/// A button, once there is a chart that can be saved.
#[island]
pub fn SavePictures(data: Shown) -> impl IntoView {
    let can_save = RwSignal::new(false);
    // What is shown moves on with the page: it is read when it is asked for.
    let _ = data;
    #[cfg(feature = "hydrate")]
    in_the_browser::watch(can_save);
    let save = move |_event: leptos::ev::MouseEvent| {
        #[cfg(feature = "hydrate")]
        in_the_browser::save(&_event);
    };
    view! { <button type="button" class="as-link" title="Each chart as a picture" hidden=move || !can_save.get() on:click=save>"PNG"</button> }
}

#[cfg(feature = "hydrate")]
mod in_the_browser {
    use leptos::prelude::*;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::prelude::*;

    use crate::islands::chart::pictures::{DRAWN, any_drawn, pictures};
    use crate::islands::props;

    /// Charts say when they are drawn.
    pub fn watch(can_save: RwSignal<bool>) {
        can_save.set(any_drawn());
        window_event_listener_untyped(DRAWN, move |_| can_save.set(true));
    }

    pub fn save(event: &web_sys::MouseEvent) {
        let button = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let Some(shown) = button.and_then(|button| props::of(&button)) else { return };
        for (name, picture) in pictures(&shown) {
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
