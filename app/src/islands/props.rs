//! News for an island that runs already: when the page around it is brought up to date, its element gets new properties.

use leptos::html::Div;
use leptos::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

/// Sent by `morph.js` to the island's element.
const CHANGED: &str = "toll:props";
const GONE: &str = "toll:gone";

/// The one property of an island that is kept current.
#[derive(Deserialize)]
struct Props<T> {
    data: T,
}

/// The `data` of the island that an element is in, as it is now.
pub fn of<T: DeserializeOwned>(inside: &web_sys::Element) -> Option<T> {
    let island = inside.closest("leptos-island").ok().flatten()?;
    match serde_json::from_str::<Props<T>>(&island.get_attribute("data-props").unwrap_or_default()) {
        Ok(props) => Some(props.data),
        Err(cause) => {
            leptos::logging::warn!("an island cannot read its news: {cause}");
            None
        }
    }
}

/// The island's `data`, which begins as `first` and changes with the page. `inside` is any element of the island; `on_gone`
/// runs when the island is taken from the page.
pub fn use_data<T>(inside: NodeRef<Div>, first: T, on_gone: impl Fn() + 'static) -> RwSignal<T>
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    let data = RwSignal::new(first);
    let on_gone = StoredValue::new_local(on_gone);
    Effect::new(move |_| {
        let Some(island) = inside.get().and_then(|element| element.closest("leptos-island").ok().flatten())
        else {
            return;
        };
        listen(&island, GONE, move || on_gone.with_value(|on_gone| on_gone()));
        let element = island.clone();
        listen(&island, CHANGED, move || {
            if let Some(news) = of(&element) {
                data.set(news);
            }
        });
    });
    data
}

/// For as long as the element lives.
fn listen(element: &web_sys::Element, event: &str, then: impl Fn() + 'static) {
    let then = Closure::<dyn Fn()>::new(then);
    let _ = element.add_event_listener_with_callback(event, then.as_ref().unchecked_ref());
    then.forget();
}
