//! A chart in the page: made once, updated after that, resized with its box, disposed of with its island.

use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;

use super::data::ChartData;
use super::drawings::drawing;
use super::echarts::{self, Echarts};
use super::palette::{Palette, use_is_dark};
use crate::islands::props::use_data;

/// What keeps one chart in step with its element; everything ends with it.
struct Mounted {
    chart: Echarts,
    observer: web_sys::ResizeObserver,
    _on_resize: Closure<dyn FnMut()>,
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
            match loaded.and_then(|()| mount(&element)) {
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
                if let Some(Err(cause)) = mounted.as_ref().map(|mounted| mounted.chart.show(&drawing)) {
                    leptos::logging::warn!("chart not drawn: {cause:?}");
                }
            });
        }
    });
}

fn mount(element: &web_sys::HtmlElement) -> Result<Mounted, JsValue> {
    let chart = echarts::start(element)?;
    let on_resize = Closure::<dyn FnMut()>::new({
        let chart = chart.clone();
        move || chart.resize()
    });
    let observer = web_sys::ResizeObserver::new(on_resize.as_ref().unchecked_ref())?;
    observer.observe(element);
    element.class_list().add_1("drawn")?;
    Ok(Mounted { chart, observer, _on_resize: on_resize })
}
