//! `/ops`: the funnel of everything.

pub mod api;

use leptos::prelude::*;

use crate::screens::traffic::TrafficScreen;

#[component]
pub fn Ops() -> impl IntoView {
    view! { <TrafficScreen title="Overview" here="/ops" fetch=api::ops_traffic/> }
}
