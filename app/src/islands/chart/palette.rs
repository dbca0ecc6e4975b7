//! The colours of the style sheet, for what is drawn on a canvas.

use leptos::prelude::*;
use wasm_bindgen::prelude::*;

use crate::domain::stage::Stage;

/// As the page shows them now.
pub struct Palette {
    styles: Option<web_sys::CssStyleDeclaration>,
    /// The reader asked for less motion.
    pub is_still: bool,
}

impl Palette {
    pub fn current() -> Palette {
        let root = document().document_element();
        let styles = root.and_then(|root| window().get_computed_style(&root).ok().flatten());
        Palette { styles, is_still: matches("(prefers-reduced-motion: reduce)") }
    }

    /// The value of a custom property, such as `ink`.
    pub fn colour(&self, name: &str) -> String {
        let value =
            self.styles.as_ref().and_then(|styles| styles.get_property_value(&format!("--{name}")).ok());
        value
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| "gray".into())
    }

    pub fn stage(&self, stage: Stage) -> String {
        self.colour(stage.name())
    }
}

fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|list| list.matches())
}

/// A listener to the reader's colour scheme, for as long as it is kept.
struct Watch {
    list: web_sys::MediaQueryList,
    on_change: Closure<dyn FnMut()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ =
            self.list.remove_event_listener_with_callback("change", self.on_change.as_ref().unchecked_ref());
    }
}

/// Changes with the reader's colour scheme, until its owner is gone.
pub fn use_is_dark() -> RwSignal<bool> {
    const QUERY: &str = "(prefers-color-scheme: dark)";
    let dark = RwSignal::new(matches(QUERY));
    if let Ok(Some(list)) = window().match_media(QUERY) {
        let on_change = Closure::<dyn FnMut()>::new(move || dark.set(matches(QUERY)));
        let _ = list.add_event_listener_with_callback("change", on_change.as_ref().unchecked_ref());
        StoredValue::new_local(Watch { list, on_change });
    }
    dark
}
