//! The binding to ECharts. Of `charming` only the description of a chart is used: its own binding cannot say how a
//! tooltip is rendered, nor dispose of a chart.

use std::cell::RefCell;

use js_sys::{Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::drawings::Drawing;

#[wasm_bindgen]
extern "C" {
    #[derive(Clone)]
    pub type Echarts;

    #[wasm_bindgen(js_namespace = echarts, js_name = init, catch)]
    fn init(element: &web_sys::HtmlElement) -> Result<Echarts, JsValue>;

    #[wasm_bindgen(js_namespace = echarts, js_name = init, catch)]
    fn init_sized(
        element: &web_sys::HtmlElement,
        theme: &JsValue,
        options: &js_sys::Object,
    ) -> Result<Echarts, JsValue>;

    #[wasm_bindgen(method, js_name = getDataURL)]
    fn picture(this: &Echarts, options: &js_sys::Object) -> String;

    #[wasm_bindgen(method, js_name = setOption, catch)]
    fn set_option(this: &Echarts, option: &JsValue, how: &JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method)]
    pub fn on(this: &Echarts, event: &str, handler: &js_sys::Function);

    #[wasm_bindgen(method)]
    pub fn resize(this: &Echarts);

    #[wasm_bindgen(method)]
    pub fn dispose(this: &Echarts);
}

thread_local! {
    /// One download for all charts, asked for by the first.
    static LOADING: RefCell<Option<Promise>> = const { RefCell::new(None) };
}

/// Resolves when ECharts is there.
pub async fn load() -> Result<(), JsValue> {
    let loading = LOADING.with(|loading| loading.borrow_mut().get_or_insert_with(fetch).clone());
    JsFuture::from(loading).await.map(|_| ())
}

fn fetch() -> Promise {
    Promise::new(&mut |done, failed| {
        if let Err(cause) = add_script(&done, &failed) {
            let _ = failed.call1(&JsValue::NULL, &cause);
        }
    })
}

/// The page names the file, since its name carries a hash. A script that a trusted script adds is trusted.
fn add_script(done: &js_sys::Function, failed: &js_sys::Function) -> Result<(), JsValue> {
    let document = leptos::prelude::document();
    let address = document
        .query_selector("meta[name=toll-echarts]")?
        .and_then(|meta| meta.get_attribute("content"))
        .ok_or("the page names no ECharts")?;
    let script = document.create_element("script")?;
    script.set_attribute("src", &address)?;
    script.add_event_listener_with_callback("load", done)?;
    script.add_event_listener_with_callback("error", failed)?;
    document.head().ok_or("no head")?.append_child(&script)?;
    Ok(())
}

pub fn start(element: &web_sys::HtmlElement) -> Result<Echarts, JsValue> {
    init(element)
}

/// A drawing that is in no page, as a PNG in a `data:` address, twice as sharp as `size` says.
pub fn picture(drawing: &Drawing, (width, height): (f64, f64), ground: &str) -> Result<String, JsValue> {
    let element: web_sys::HtmlElement = leptos::prelude::document().create_element("div")?.unchecked_into();
    let chart = init_sized(
        &element,
        &JsValue::NULL,
        &object(&[("width", width.into()), ("height", height.into())])?,
    )?;
    let shown = chart.show(drawing, None);
    let options =
        object(&[("type", "png".into()), ("pixelRatio", 2.into()), ("backgroundColor", ground.into())])?;
    let picture = shown.map(|()| chart.picture(&options));
    chart.dispose();
    picture
}

fn object(fields: &[(&str, JsValue)]) -> Result<js_sys::Object, JsValue> {
    let object = js_sys::Object::new();
    for (name, value) in fields {
        Reflect::set(&object, &(*name).into(), value)?;
    }
    Ok(object)
}

/// A number of what ECharts says about an event or an item; of several items, of the first.
pub fn number(params: &JsValue, name: &str) -> Option<usize> {
    let first = Reflect::get_u32(params, 0).ok().filter(|first| !first.is_undefined());
    let value = Reflect::get(first.as_ref().unwrap_or(params), &name.into()).ok()?;
    value.as_f64().filter(|n| *n >= 0.0).map(|n| n as usize)
}

/// A part of an option; of one that is not there, an empty one that nobody reads.
fn part(option: &JsValue, name: &str) -> Result<JsValue, JsValue> {
    let part = Reflect::get(option, &name.into())?;
    Ok(if part.is_object() { part } else { js_sys::Object::new().into() })
}

impl Echarts {
    /// Draws, or changes what is drawn. `words` says in place of its name what an item's tooltip says.
    pub fn show(&self, drawing: &Drawing, words: Option<&js_sys::Function>) -> Result<(), JsValue> {
        let option = drawing.serialize(&serde_wasm_bindgen::Serializer::json_compatible())?;
        // What charming cannot say. HTML tooltips carry style attributes, which the content security policy forbids.
        let tooltip = part(&option, "tooltip")?;
        Reflect::set(&tooltip, &"renderMode".into(), &"richText".into())?;
        Reflect::set(&tooltip, &"confine".into(), &JsValue::TRUE)?;
        if let Some(words) = words {
            Reflect::set(&tooltip, &"formatter".into(), words)?;
        }
        Reflect::set(&part(&part(&option, "xAxis")?, "axisLabel")?, &"hideOverlap".into(), &JsValue::TRUE)?;
        // A series that is there no more goes; the others, known by their ids, change in place.
        let how = object(&[("replaceMerge", "series".into())])?;
        self.set_option(&option, &how)?;
        Ok(())
    }
}
