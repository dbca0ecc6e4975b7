//! `/portal`: a partner's own funnel.

pub mod api;

use leptos::prelude::*;

use crate::screens::traffic::TrafficScreen;

#[component]
pub fn Portal() -> impl IntoView {
    view! { <TrafficScreen title="My traffic" here="/portal" fetch=api::partner_traffic/> }
}
