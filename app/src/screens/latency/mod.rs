//! `/ops/latency`: how long it took, where, and when.

pub mod api;
mod routes;
mod stages;

use leptos::prelude::*;

use self::api::LatencyShown;
use self::routes::Routes;
use self::stages::Stages;
use crate::domain::funnel;
use crate::domain::histogram::Histogram;
use crate::domain::numbers::count;
use crate::latency::Times;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::headline::Said;
use crate::widgets::histogram::LatencyHistogram;
use crate::widgets::latency_map::LatencyMap;

#[component]
pub fn Latency() -> impl IntoView {
    let address = Address::current();
    let (span, route) = (address.span().to_string(), address.get("route").map(str::to_owned));
    let fetch = async {
        let shown = api::ops_latency(span, route).await?;
        Ok((Some(shown.window), shown))
    };
    Screen::new("Latency", "/ops/latency").asks("How long did it take?").show(fetch, move |shown, _| {
        let LatencyShown { route, is_unknown, routes, steps, histograms, .. } = shown;
        let times = times_of(&routes, route.as_deref());
        let sentence = match &route {
            Some(name) if is_unknown => format!("There is no route {name:?}."),
            _ => headline(&times.at_upstream, &routes, route.as_deref()),
        };
        let requests = address.elsewhere("/ops/requests").with("route", route.as_deref());
        let all = route.is_some().then(|| {
            view! { <p class="hint"><a href=address.with("route", None).href()>"All routes"</a></p> }
        });
        view! {
            <Said text=sentence/>
            {all}
            <section class="two">
                <LatencyHistogram latency=funnel::Latency::of(&times.at_upstream) behind=requests.clone()/>
                <LatencyMap steps=steps histograms=histograms/>
            </section>
            <Stages times=times/>
            <Routes routes=routes address=address/>
        }
        .into_any()
    })
}

fn times_of(routes: &[(String, Times)], route: Option<&str>) -> Times {
    let chosen = routes.iter().filter(|(name, _)| route.is_none_or(|route| name == route));
    let mut sum = Times::default();
    for (_, times) in chosen {
        sum.add_all(times);
    }
    sum
}

/// How long it took, in the words of the figures below, and which route is slowest.
fn headline(all: &Histogram, routes: &[(String, Times)], route: Option<&str>) -> String {
    let of = route.map(|route| format!(" on {route}")).unwrap_or_default();
    let (Some(p50), Some(p95)) = (all.percentile(0.5), all.percentile(0.95)) else {
        return format!("No request{of} reached an upstream in this window.");
    };
    let requests = count(all.total(), "request");
    let sentence = format!("Of {requests}{of}, p50 is {}, and p95 {}", p50.words(), p95.words());
    let slowest = routes
        .iter()
        .filter(|(name, times)| !name.is_empty() && times.at_upstream.total() >= all.total().div_ceil(100))
        .filter_map(|(name, times)| Some((times.at_upstream.percentile(0.95)?, name)))
        .max_by(|a, b| a.0.estimate.total_cmp(&b.0.estimate));
    match slowest.filter(|(p, _)| route.is_none() && p.low > p95.low) {
        Some((p95, name)) => format!("{sentence}. Slowest is {name}: its p95 is {}.", p95.words()),
        None => sentence + ".",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(counts: [u64; 9]) -> Histogram {
        Histogram { counts }
    }

    #[test]
    fn the_first_line_says_how_long_most_took_and_which_route_is_slowest() {
        let fast = histogram([80, 20, 0, 0, 0, 0, 0, 0, 0]);
        let slow = histogram([0, 0, 0, 0, 0, 4, 1, 0, 0]);
        let mut all = fast;
        all.add(&slow);
        let times = |at_upstream| Times { at_upstream, ..Times::default() };
        let routes = [("orders".to_owned(), times(fast)), ("billing".to_owned(), times(slow))];
        assert_eq!(
            headline(&all, &routes, None),
            "Of 105 requests, p50 is 0–5 ms, about 3, and p95 5–10 ms, about 10. \
             Slowest is billing: its p95 is 250–1,000 ms, about 1,000."
        );
        assert_eq!(
            headline(&slow, &routes, Some("billing")),
            "Of 5 requests on billing, p50 is 100–250 ms, about 213, and p95 250–1,000 ms, about 1,000."
        );
        assert_eq!(headline(&histogram([0; 9]), &[], None), "No request reached an upstream in this window.");
        assert_eq!(
            headline(&histogram([0, 0, 0, 0, 0, 0, 0, 0, 1]), &[], None),
            "Of 1 request, p50 is over 5 s, and p95 over 5 s."
        );
    }
}
