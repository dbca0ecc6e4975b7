//! `/portal`: a partner's own funnel, its quota now, and what it was refused and why.

pub mod api;

use leptos::prelude::*;

use self::api::Overview;
use crate::screens::screen::Screen;
use crate::screens::traffic::Traffic;
use crate::widgets::address::Address;
use crate::widgets::books::Books;
use crate::widgets::by_route::ByRoute;
use crate::widgets::funnel_chart::FunnelChart;
use crate::widgets::headline::headline;
use crate::widgets::histogram::LatencyHistogram;
use crate::widgets::nothing_here::{NothingHere, Waits};
use crate::widgets::quota_now::QuotaNow;
use crate::widgets::refusals::Refusals;
use crate::widgets::snippet::{Snippet, curl};
use crate::widgets::traffic_chart::TrafficChart;
use crate::widgets::verdicts::Verdicts;

#[component]
pub fn Portal() -> impl IntoView {
    let address = Address::current();
    let span = address.span().to_string();
    let fetch = async {
        let overview = api::partner_traffic(span).await?;
        Ok((Some(overview.traffic.funnel.window()), overview))
    };
    Screen::new("My traffic", "/portal")
        .asks("Where did my requests go?")
        .show(fetch, move |overview, _| view! { <Page overview=overview page=address/> }.into_any())
}

#[component]
fn Page(
    overview: Overview,
    /// The page, with its window.
    page: Address,
) -> impl IntoView {
    let requests = page.elsewhere("/portal/requests");
    let Overview { verdicts, traffic, routes, quota, access } = overview;
    let Traffic { funnel, over_time, bands, gateway, newest } = traffic;
    let is_empty = funnel.arrived == 0;
    let refusals = funnel.clone();
    view! {
        <Verdicts verdicts=verdicts otherwise=headline(&funnel)/>
        {is_empty.then(|| match newest {
            Some(newest) => view! { <NothingHere page=page newest=newest/> }.into_any(),
            None => view! { <Empty access=access gateway=gateway page=page/> }.into_any(),
        })}
        <QuotaNow quota=quota title="My quota now"/>
        <section aria-labelledby="books-title">
            <h2 id="books-title">"The books"</h2>
            <Books funnel=funnel.clone() behind=requests.clone()/>
        </section>
        <Refusals funnel=refusals behind=requests.clone()/>
        <section>
            <TrafficChart traffic=over_time bands=bands behind=requests.clone()/>
        </section>
        <section class="two">
            <FunnelChart funnel=funnel.clone() behind=requests.clone()/>
            <LatencyHistogram latency=funnel.latency behind=requests.clone()/>
        </section>
        <ByRoute routes=routes behind=requests/>
    }
}

/// Nothing yet: a request to try, which then appears by itself.
#[component]
fn Empty(access: crate::access::Access, gateway: String, page: Address) -> impl IntoView {
    let lead = match access.keys.is_empty() {
        true => view! { <p>"First "<a href="/portal/keys">"create a key"</a>". Then send a request:"</p> }.into_any(),
        false => view! {
            <p>"Send a request. Your key is the one that begins like this; put the whole of it in its place:"</p>
        }
        .into_any(),
    };
    let command = curl(&gateway, access.example_path(None), &access.key_start());
    view! {
        <div class="empty">
            {lead}
            <Snippet text=command name="the curl command"/>
            <Waits page=page/>
            <p class="hint">"What ends before its key is read (no such route, one that is switched off, too large a body), or has no valid key, is nobody’s and not counted here: its answer says why."</p>
        </div>
    }
}
