//! `/ops`: the funnel of everything.

pub mod api;

use leptos::prelude::*;

use crate::screens::screen::Screen;
use crate::screens::traffic::TrafficView;
use crate::widgets::address::Address;

#[component]
pub fn Ops() -> impl IntoView {
    let span = Address::current().span().to_string();
    let fetch = async {
        let traffic = api::ops_traffic(span).await?;
        Ok((Some(traffic.funnel.window()), traffic))
    };
    Screen::new("Overview", "/ops")
        .asks("Where did the requests go?")
        .show(fetch, |traffic, _| view! { <TrafficView traffic=traffic/> }.into_any())
}
