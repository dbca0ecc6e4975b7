//! A chart in the page: made once, updated after that, resized with its box, disposed of with its island.

use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;

use super::data::ChartData;
use super::drawings::drawing;
use super::echarts::{self, Echarts, number};
use super::palette::{Palette, use_is_dark};
use super::pictures::DRAWN;
use crate::islands::props::use_data;

/// What keeps one chart in step with its element; everything ends with it.
struct Mounted {
    chart: Echarts,
    observer: web_sys::ResizeObserver,
    words: Closure<dyn Fn(JsValue) -> JsValue>,
    _on_resize: Closure<dyn FnMut()>,
    _on_click: Closure<dyn Fn(JsValue)>,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.observer.disconnect();
        self.chart.dispose();
    }
}

/// Draws into `canvas` once ECharts is there, again with each news of the data, and when the page turns dark or light.
/// Without ECharts the SVG stays.
pub fn keep_drawn(canvas: NodeRef<Div>, first: ChartData) {
    let mounted = StoredValue::new_local(None::<Mounted>);
    let is_mounted = RwSignal::new(false);
    let is_gone = StoredValue::new(false);
    let dark = use_is_dark();
    let data = use_data(canvas, first, move || {
        is_gone.set_value(true);
        mounted.set_value(None);
    });

    Effect::new(move |_| {
        let Some(element) = canvas.get() else { return };
        spawn_local(async move {
            let loaded = echarts::load().await;
            if is_gone.get_value() {
                return;
            }
            match loaded.and_then(|()| mount(&element, data)) {
                Ok(chart) => {
                    mounted.set_value(Some(chart));
                    is_mounted.set(true);
                }
                Err(cause) => leptos::logging::warn!("no interactive chart: {cause:?}"),
            }
        });
    });

    Effect::new(move |_| {
        dark.track();
        let drawing = drawing(&data.read(), &Palette::current());
        if is_mounted.get() {
            mounted.with_value(|mounted| {
                let Some(mounted) = mounted else { return };
                // Only traffic has more to say than names.
                let words = data.with(|data| data.words(0)).map(|_| mounted.words.as_ref().unchecked_ref());
                if let Err(cause) = mounted.chart.show(&drawing, words) {
                    leptos::logging::warn!("chart not drawn: {cause:?}");
                }
            });
        }
    });
}

fn mount(element: &web_sys::HtmlElement, data: RwSignal<ChartData>) -> Result<Mounted, JsValue> {
    let chart = echarts::start(element)?;
    let words = Closure::<dyn Fn(JsValue) -> JsValue>::new(move |items: JsValue| {
        let words = number(&items, "dataIndex").and_then(|item| data.with_untracked(|data| data.words(item)));
        words.unwrap_or_default().into()
    });
    let on_click = Closure::<dyn Fn(JsValue)>::new(move |event: JsValue| {
        let clicked = number(&event, "seriesIndex").zip(number(&event, "dataIndex"));
        let link = clicked.and_then(|(series, item)| data.with_untracked(|data| data.link(series, item)));
        if let Some(link) = link {
            let _ = window().location().set_href(&link);
        }
    });
    chart.on("click", on_click.as_ref().unchecked_ref());
    let on_resize = Closure::<dyn FnMut()>::new({
        let chart = chart.clone();
        move || chart.resize()
    });
    let observer = web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref())?;
    observer.observe(element);
    element.class_list().add_1("drawn")?;
    window().dispatch_event(&web_sys::Event::new(DRAWN)?)?;
    Ok(Mounted { chart, observer, words, _on_resize: on_resize, _on_click: on_click })
}
