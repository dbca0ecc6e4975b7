//! Charts of the page as pictures.

use js_sys::{Object, Reflect};
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::echarts;
use super::palette::Palette;

/// Sent to the window when a chart has been drawn for the first time.
pub const DRAWN: &str = "toll:drawn";

const CANVASES: &str = ".canvas.drawn";

pub fn any_drawn() -> bool {
    document().query_selector(CANVASES).ok().flatten().is_some()
}

/// Each chart that is drawn: its name, and a PNG as a `data:` address, on the page's own ground.
pub fn pictures() -> Vec<(String, String)> {
    let options = Object::new();
    let paper = Palette::current().colour("paper");
    for (name, value) in [("type", "png".into()), ("pixelRatio", 2.into()), ("backgroundColor", paper.into())]
    {
        let _ = Reflect::set(&options, &name.into(), &value);
    }
    let Ok(canvases) = document().query_selector_all(CANVASES) else { return Vec::new() };
    let elements =
        (0..canvases.length()).filter_map(|n| canvases.item(n)?.dyn_into::<web_sys::HtmlElement>().ok());
    elements
        .filter_map(|element| {
            let chart = echarts::of(&element)?;
            let figure = element.closest("figure").ok().flatten()?;
            let name = figure.get_attribute("aria-labelledby").unwrap_or_default();
            Some((name.trim_end_matches("-title").to_owned(), chart.picture(&options)))
        })
        .collect()
}
