//! `/portal`: a partner's own funnel.

pub mod api;

use leptos::prelude::*;

use crate::screens::screen::Screen;
use crate::screens::traffic::TrafficView;
use crate::widgets::address::Address;

#[component]
pub fn Portal() -> impl IntoView {
    let span = Address::current().span().to_string();
    let fetch = async {
        let traffic = api::partner_traffic(span).await?;
        Ok((Some(traffic.funnel.window()), traffic))
    };
    Screen::new("My traffic", "/portal")
        .asks("Where did my requests go?")
        .show(fetch, |traffic, _| view! { <TrafficView traffic=traffic/> }.into_any())
}
