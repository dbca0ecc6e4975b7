//! Charts of the page as pictures.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use super::data::ChartData;
use super::drawings::{Caption, SIZE, still};
use super::echarts::picture;
use super::palette::Palette;
use crate::domain::numbers::lower_first;
use crate::islands::pictures::Shown;
use crate::islands::props;

/// Sent to the window when a chart has been drawn for the first time.
pub const DRAWN: &str = "toll:drawn";

const CANVASES: &str = ".canvas.drawn";

pub fn any_drawn() -> bool {
    document().query_selector(CANVASES).ok().flatten().is_some()
}

/// Each chart that is drawn: its name, and a PNG as a `data:` address, on the page's own ground.
pub fn pictures(shown: &Shown) -> Vec<(String, String)> {
    let Ok(canvases) = document().query_selector_all(CANVASES) else { return Vec::new() };
    let elements =
        (0..canvases.length()).filter_map(|n| canvases.item(n)?.dyn_into::<web_sys::Element>().ok());
    elements.filter_map(|canvas| of(&canvas, shown)).collect()
}

fn of(canvas: &web_sys::Element, shown: &Shown) -> Option<(String, String)> {
    let figure = canvas.closest("figure").ok().flatten()?;
    let name = figure.get_attribute("aria-labelledby").unwrap_or_default();
    let palette = Palette::current();
    let drawing = still(&props::of::<ChartData>(canvas)?, &caption(&figure, shown), &palette);
    let picture = picture(&drawing, SIZE, &palette.colour("paper"));
    let complain = |cause: JsValue| leptos::logging::warn!("no picture of {name}: {cause:?}");
    let picture = picture.map_err(complain).ok()?;
    Some((name.trim_end_matches("-title").to_owned(), picture))
}

/// In the words of the page.
fn caption(figure: &web_sys::Element, shown: &Shown) -> Caption {
    let text = |selector: &str| {
        let found = figure.query_selector(selector).ok().flatten();
        found.and_then(|element| element.text_content()).unwrap_or_default()
    };
    let told = text("h2 small");
    let heading = text("h2");
    let heading = heading.strip_suffix(told.as_str()).unwrap_or(&heading).trim();
    // Of several alike the page says by a heading above it which this is.
    let of = figure.get_attribute("data-of").unwrap_or_else(|| shown.of.clone());
    Caption { title: format!("{of}: {}", lower_first(heading)), window: shown.window.clone(), told }
}
