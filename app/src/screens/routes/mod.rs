//! `/ops/routes`: each route's funnel in a row.

pub mod api;
pub mod change;
pub mod form;

use leptos::prelude::*;

use self::api::{RouteLine, Routes, SwitchRoute, ops_routes};
use crate::domain::ends::Ends;
use crate::domain::numbers::{count, grouped, percent, roughly, so_many_of, unbroken, were};
use crate::domain::stage::Stage;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::field::Problem;
use crate::widgets::headline::Said;
use crate::widgets::mini_funnel::MiniFunnel;
use crate::widgets::table::Table;

#[component]
pub fn OpsRoutes() -> impl IntoView {
    let address = Address::current();
    let span = address.span().to_string();
    let fetch = async {
        let routes = ops_routes(span).await?;
        Ok((Some(routes.window), routes))
    };
    Screen::new("Routes", "/ops/routes")
        .asks("What is called, and how far does it get?")
        .show(fetch, |routes, _| view! { <List routes=routes address=address/> }.into_any())
}

#[component]
fn List(routes: Routes, address: Address) -> impl IntoView {
    let action = ServerAction::<SwitchRoute>::new();
    let problem = action.value().get_untracked().and_then(Result::err).map(|error| error.by_address());
    let Routes { routes, nowhere, .. } = routes;
    let lost = address.elsewhere("/ops/requests").with("outcome", Some("no_route")).href();
    let lost = (nowhere > 0).then(
        || view! { <p class="soft"><a href=lost>{count(nowhere, "request")}</a>" named no route."</p> },
    );
    let sentence = sentence(&routes);
    let rows: Vec<_> = routes.into_iter().map(|line| row(line, &address)).collect();
    let columns = vec![
        ("", "Route"),
        ("drawn", "From door to upstream"),
        ("r", "Arrived"),
        ("r", "Stopped"),
        ("r", "From cache"),
        ("r", "Reached"),
        ("r", "p95"),
        ("unseen", "Switch"),
    ];
    let none = view! {
        <p class="hint">"No route yet. Create one, or declare it in a file for "<code>"toll apply"</code>"."</p>
    };
    view! {
        <Said text=sentence/>
        <Problem text=problem/>
        <div class="above-list">
            {lost}
            <a class="btn" href="/ops/routes/new">"New route"</a>
        </div>
        <section aria-label="Routes"><Table columns=columns rows=rows otherwise=none.into_any()/></section>
    }
}

/// Which are called, and which most.
fn sentence(routes: &[RouteLine]) -> String {
    let arrived = |line: &RouteLine| line.funnel.as_ref().map_or(0, |funnel| funnel.arrived);
    let (all, total) = (routes.len() as u64, routes.iter().map(arrived).sum::<u64>());
    let called = routes.iter().filter(|line| arrived(line) > 0).count() as u64;
    match routes.iter().max_by_key(|line| arrived(line)) {
        None => "There is no route yet.".into(),
        Some(_) if called == 0 => format!("None of {} was called in this window.", count(all, "route")),
        Some(most) => format!(
            "{} {} called in this window; {} got {} of {}.",
            so_many_of(called, all, "route"),
            were(called),
            most.route.name,
            grouped(arrived(most)),
            count(total, "request")
        ),
    }
}

fn row(line: RouteLine, address: &Address) -> impl IntoView + use<> {
    let RouteLine { route, funnel, upstream_us } = line;
    let ends = funnel.as_ref().map(Ends::of).unwrap_or_default();
    let page = address.elsewhere(&format!("/ops/routes/{}", route.name)).href();
    let list = address.elsewhere("/ops/requests").with("route", Some(route.name.as_str()));
    let count = |n: u64, list: Address| match n {
        0 => view! { <span class="soft">"0"</span> }.into_any(),
        n => view! { <a href=list.href()>{grouped(n)}</a> }.into_any(),
    };
    let p95 =
        funnel.as_ref().and_then(|funnel| funnel.latency.p95).map_or("–".to_owned(), |p95| p95.words());
    let (word, next) = if route.off { ("Switch on", "false") } else { ("Switch off", "true") };
    view! {
        <tr id=format!("route-{}", route.name)>
            <th scope="row">
                <a href=page>{route.name.clone()}</a>
                {route.off.then(|| view! { <span class="tag bad">"off"</span> })}
                {(route.access == "public").then(|| view! { <span class="tag">"public"</span> })}
                <span class="why"><code>{format!("/api{}", route.path)}</code>" → "{route.upstream}</span>
            </th>
            <td class="drawn"><MiniFunnel ends=ends/></td>
            <td class="r" data-label="Arrived">{count(ends.arrived(), list.clone())}</td>
            <td class="r" data-label="Stopped">{grouped(ends.refused())}</td>
            <td class="r" data-label="From cache">{earned(&ends, route.cache, upstream_us)}</td>
            <td class="r" data-label="Reached">{count(ends.reached, list.with("answer", Some("any")))}</td>
            <td class="r" data-label="p95">{p95}</td>
            <td class="r">
                <form method="post" action="/_fn/switch_route">
                    <input type="hidden" name="name" value=route.name.clone()/>
                    <input type="hidden" name="off" value=next/>
                    <button class="quiet small">{word}<span class="visually-hidden">{format!(" {}", route.name)}</span></button>
                </form>
            </td>
        </tr>
    }
}

/// What the cache answered of all that it was asked, and what the upstream was spared by it.
fn earned(ends: &Ends, has_cache: bool, upstream_us: u64) -> impl IntoView + use<> {
    let hits = ends.at(Stage::Cache);
    if !has_cache && hits == 0 {
        return view! { <span class="soft">"no cache"</span> }.into_any();
    }
    let asked = hits + ends.at(Stage::Breaker) + ends.at(Stage::Proxy) + ends.reached;
    let saved = (ends.reached > 0 && hits > 0).then(|| {
        // As long as those took that it did not answer.
        let words = roughly(upstream_us / ends.reached * hits);
        view! { <span class="why">{unbroken(&format!("{}, {words} saved", count(hits, "call")))}</span> }
    });
    view! { {percent(hits, asked)}{saved} }.into_any()
}
