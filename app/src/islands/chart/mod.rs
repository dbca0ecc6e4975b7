//! Interactive charts: `charming` says what to draw, ECharts draws it over the SVG that came with the page. ECharts is
//! fetched when the first chart is there, so that the page does not wait for it.

pub mod data;
#[cfg(feature = "hydrate")]
mod drawings;
#[cfg(feature = "hydrate")]
mod echarts;
#[cfg(feature = "hydrate")]
mod mounted;
#[cfg(feature = "hydrate")]
mod palette;
#[cfg(feature = "hydrate")]
pub mod pictures;

use leptos::html::Div;
use leptos::prelude::*;

use self::data::ChartData;

/// A chart that fills the box it stands in, and covers the SVG beside it once it is drawn.
#[island]
pub fn Chart(data: ChartData) -> impl IntoView {
    let canvas = NodeRef::<Div>::new();
    #[cfg(feature = "hydrate")]
    mounted::keep_drawn(canvas, data);
    #[cfg(not(feature = "hydrate"))]
    let _ = data;
    view! { <div class="canvas" node_ref=canvas></div> }
}
