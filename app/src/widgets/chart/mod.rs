//! Interactive charts, in the browser only: `charming` says what to draw, ECharts draws it over the SVG that came with
//! the page. ECharts is fetched when the first chart is there, so that the page does not wait for it.

mod drawings;
mod echarts;
mod palette;

use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::prelude::*;

pub use drawings::{Drawing, funnel, histogram};
pub use palette::Palette;

use echarts::Echarts;

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

/// Draws into `canvas` once ECharts is there, again whenever a signal that `draw` reads changes, and when the page turns
/// dark or light. The chart is made once, updated after that, and disposed of with its owner. Without ECharts the SVG
/// stays.
pub fn keep_drawn(canvas: NodeRef<Div>, draw: impl Fn(&Palette) -> Drawing + 'static) {
    let mounted = StoredValue::new_local(None::<Mounted>);
    let is_mounted = RwSignal::new(false);
    let dark = palette::use_is_dark();

    Effect::new(move |_| {
        let Some(element) = canvas.get() else { return };
        spawn_local(async move {
            let loaded = echarts::load().await;
            // Left the page meanwhile, or mounted twice.
            if mounted.try_with_value(Option::is_none) != Some(true) {
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
        let drawing = draw(&Palette::current());
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
