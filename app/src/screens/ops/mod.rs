//! `/ops`: the funnel of everything.

pub mod api;

use leptos::prelude::*;

use crate::screens::screen::Screen;
use crate::screens::traffic::TrafficView;
use crate::widgets::address::Address;

#[component]
pub fn Ops() -> impl IntoView {
    let address = Address::current();
    let (span, requests) = (address.span().to_string(), address.elsewhere("/ops/requests"));
    let fetch = async {
        let traffic = api::ops_traffic(span).await?;
        Ok((Some(traffic.funnel.window()), traffic))
    };
    Screen::new("Overview", "/ops")
        .asks("Where did the requests go?")
        .show(fetch, move |traffic, _| view! { <TrafficView traffic=traffic requests=requests/> }.into_any())
}
