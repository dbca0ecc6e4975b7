//! Keeps the page current. The server renders the page again, and what is new is put into the page that is there: one way of
//! showing things, with scripts and without. Polling, since the books move by the batch, a few times a second at most, and
//! a poll that fails is simply tried again.

use leptos::prelude::*;

/// Looks again every few seconds while the page can be seen, and at once when it comes into view. Says so in its own words
/// when Toll does not answer; what is on the page then stays.
#[island]
pub fn Live() -> impl IntoView {
    let problem = RwSignal::new(None::<&'static str>);
    #[cfg(feature = "hydrate")]
    in_the_browser::follow(problem);
    view! { <p class="problem" role="alert">{move || problem.get()}</p> }
}

#[cfg(feature = "hydrate")]
mod in_the_browser {
    use std::time::Duration;

    use leptos::prelude::*;
    use leptos::task::spawn_local;
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;
    use web_sys::{AbortSignal, DomParser, RequestInit, Response, SupportedType};

    const EVERY: Duration = Duration::from_secs(3);
    /// How long a page may take: a network that went away says nothing, and nobody would look again. Milliseconds.
    const PATIENCE: u32 = 10_000;
    const UNREACHABLE: &str = "Toll cannot be reached. What is shown is from before; trying again.";
    const AWAY: &str = "Toll's database does not answer. What is shown is from before; trying again.";

    #[wasm_bindgen(module = "/src/islands/morph.js")]
    extern "C" {
        /// Makes an element like another, changing only what differs.
        fn morph(from: &web_sys::Element, to: &web_sys::Element);
    }

    pub fn follow(problem: RwSignal<Option<&'static str>>) {
        let asking = StoredValue::new(false);
        let look = move || {
            if document().hidden() || asking.get_value() {
                return;
            }
            asking.set_value(true);
            spawn_local(async move {
                problem.set(refresh().await.unwrap_or(Some(UNREACHABLE)));
                asking.set_value(false);
            });
        };
        set_interval(look, EVERY);
        window_event_listener_untyped("focus", move |_| look());
        window_event_listener_untyped("pageshow", move |_| look());
    }

    /// Why what is shown is not new, if it is not.
    async fn refresh() -> Result<Option<&'static str>, JsValue> {
        let address = window().location().href()?;
        let asked = RequestInit::new();
        asked.set_signal(Some(&AbortSignal::timeout_with_u32(PATIENCE)));
        let fetched = window().fetch_with_str_and_init(&address, &asked);
        let response: Response = JsFuture::from(fetched).await?.unchecked_into();
        if response.redirected() {
            // Signed out meanwhile.
            window().location().set_href(&response.url())?;
            return Ok(None);
        }
        if !response.ok() {
            return Ok(Some(if response.status() == 503 { AWAY } else { UNREACHABLE }));
        }
        let text = JsFuture::from(response.text()?).await?.as_string().unwrap_or_default();
        let page = DomParser::new()?.parse_from_string(&text, SupportedType::TextHtml)?;
        // Another page was asked for while this one was on its way.
        if window().location().href()? != address {
            return Ok(None);
        }
        if let (Some(here), Some(there)) =
            (document().query_selector("#content")?, page.query_selector("#content")?)
        {
            morph(&here, &there);
        }
        document().set_title(&page.title());
        Ok(None)
    }
}
