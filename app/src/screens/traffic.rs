//! What the first screens of operators and of partners have in common: the books of a window, and charts beside them.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::books::{Filter, newest};
use crate::breakers;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::{count, grouped};
use crate::domain::over_time::OverTime;
use crate::domain::span::Span;
use crate::domain::verdict::{Verdict, Who};
use crate::domain::window::Window;
use crate::evidence::{self, Reading};
use crate::islands::chart::data::Band;
use crate::over_time::over_time;
use crate::site::Site;
use crate::widgets::address::Address;
use crate::widgets::books::Books;
use crate::widgets::funnel_chart::FunnelChart;
use crate::widgets::headline::headline;
use crate::widgets::histogram::LatencyHistogram;
use crate::widgets::nothing_here::{NothingHere, Waits};
use crate::widgets::traffic_chart::TrafficChart;
use crate::widgets::verdicts::Verdicts;

/// The numbers of one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    pub funnel: Funnel,
    pub over_time: OverTime,
    /// Times in which a breaker was open.
    pub bands: Vec<Band>,
    /// Where requests come in, for the example that an empty page shows.
    pub gateway: String,
    /// Of a window in which nothing arrived: where the newest requests are, if there are any.
    pub newest: Option<Window>,
}

/// Reads the window that `span` names now, of one partner or of everybody; beside it what it was read from. The caller has
/// asked who is asking.
pub async fn read(site: &Site, span: Span, window: Window, who: Who) -> sqlx::Result<(Traffic, Reading)> {
    let partner = who.partner();
    let of = Filter { partner, route: None };
    let bands = async {
        match partner {
            Some(partner) => breakers::bands_of(&site.db, window, partner).await,
            None => breakers::bands(&site.db, window).await,
        }
    };
    let (mut reading, over_time, bands) =
        tokio::try_join!(evidence::read(&site.db, window, who), over_time(&site.db, window, &of), bands)?;
    reading.evidence = reading.evidence.shown_in(span);
    let (funnel, over_time) = (reading.totals.funnel(), over_time.shown_in(span));
    let newest = if funnel.arrived == 0 { newest(&site.db, partner).await? } else { None };
    Ok((Traffic { funnel, over_time, bands, gateway: site.gateway(), newest }, reading))
}

/// Headline, books and charts; `children` come between books and charts.
#[component]
pub fn TrafficView(
    traffic: Traffic,
    /// Said in place of the headline, if there are any.
    #[prop(optional)]
    verdicts: Vec<Verdict>,
    /// The page, with its window.
    page: Address,
    /// The list of its requests, with the window.
    requests: Address,
    #[prop(optional)] children: Option<Children>,
) -> impl IntoView {
    let Traffic { funnel, over_time, bands, gateway, newest } = traffic;
    let is_empty = funnel.arrived == 0;
    view! {
        <Verdicts verdicts=verdicts otherwise=headline(&funnel)/>
        {is_empty.then(|| match newest {
            Some(newest) => view! { <NothingHere page=page newest=newest/> }.into_any(),
            None => view! { <Empty gateway=gateway page=page/> }.into_any(),
        })}
        <section aria-labelledby="books-title">
            <h2 id="books-title">"The books"<small>{beside_the_books(&funnel)}</small></h2>
            <Books funnel=funnel.clone() behind=requests.clone()/>
        </section>
        // Of nothing there is nothing to draw.
        {(!is_empty).then(|| view! {
            <section><TrafficChart traffic=over_time bands=bands behind=requests.clone()/></section>
        })}
        {children.map(|children| children())}
        {(!is_empty).then(|| view! {
            <section class="two">
                <FunnelChart funnel=funnel.clone() behind=requests.clone()/>
                <LatencyHistogram latency=funnel.latency.clone() behind=requests.clone()/>
            </section>
        })}
    }
}

/// What is no line of the subtraction, and still worth a word.
fn beside_the_books(funnel: &Funnel) -> String {
    let mut words = Vec::new();
    if funnel.upstream_calls != funnel.reached_upstream {
        let calls = count(funnel.upstream_calls, "call");
        words.push(format!("{calls} to upstreams, with retries and revalidations"));
    }
    if funnel.metered_locally > 0 {
        let metered = grouped(funnel.metered_locally);
        words.push(format!("{metered} metered locally while the database was away"));
    }
    words.join("; ")
}

/// Nothing yet: a request to try, which then appears by itself.
#[component]
fn Empty(gateway: String, page: Address) -> impl IntoView {
    view! {
        <div class="empty">
            <p>"Send a request, with a key of one of your partners or without: it will be in the books, whatever becomes of it."</p>
            <pre tabindex="0"><code>{format!("curl -i {gateway}/hello")}</code></pre>
            <Waits page=page/>
        </div>
    }
}
