//! `/ops`: what is the matter, the funnel of everything, and who is behind it.

pub mod api;
mod before;
mod partners;
mod upstreams;

use leptos::prelude::*;

use self::api::Overview;
use self::before::Before;
use self::partners::Partners;
use self::upstreams::Upstreams;
use crate::screens::screen::Screen;
use crate::screens::traffic::TrafficView;
use crate::widgets::address::Address;

#[component]
pub fn Ops() -> impl IntoView {
    let address = Address::current();
    let span = address.span().to_string();
    let fetch = async {
        let overview = api::ops_traffic(span).await?;
        Ok((Some(overview.traffic.funnel.window()), overview))
    };
    Screen::new("Overview", "/ops")
        .asks("Where did the requests go?")
        .show(fetch, |overview, _| view! { <Everything overview=overview address=address/> }.into_any())
}

#[component]
fn Everything(overview: Overview, address: Address) -> impl IntoView {
    let Overview { traffic, verdicts, before, partners, upstreams } = overview;
    let (now, window) = (traffic.funnel.clone(), traffic.funnel.window());
    let is_live = address.span().is_live();
    let list = address.elsewhere("/ops/requests");
    view! {
        <TrafficView traffic=traffic verdicts=verdicts page=address.clone() requests=list>
            <Partners partners=partners address=address.clone()/>
            <section class="two">
                <Before now=now before=before is_live=is_live/>
                <Upstreams upstreams=upstreams window=window address=address/>
            </section>
        </TrafficView>
    }
}
