//! `/ops/cache`: whether it earns its keep, route by route.

pub mod api;
mod purge;
mod routes;

use leptos::prelude::*;

use self::api::{CacheShown, ops_cache, purge_cache};
use self::purge::Purges;
use self::routes::Routes;
use crate::cache_use::CacheUse;
use crate::domain::numbers::{count, grouped, percent, span_words, were};
use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::headline::Said;

#[component]
pub fn Cache() -> impl IntoView {
    let address = Address::current();
    let span = address.span().to_string();
    let (posted, here) = (Posted::current(), address.href());
    let fetch = async move {
        let draft = purged(posted, &here).await?;
        let shown = ops_cache(span).await?;
        Ok((Some(shown.window), (shown, draft)))
    };
    Screen::new("Cache", "/ops/cache").asks("What did the cache save?").show(
        fetch,
        move |(shown, draft), _| {
            let CacheShown { mut routes, purges, now, .. } = shown;
            let requests = address.elsewhere("/ops/requests");
            // A link may be about one of them.
            let one = address.get("route").map(str::to_owned);
            routes.retain(|route| one.as_ref().is_none_or(|one| route.route == *one));
            let sentence = match &one {
                Some(name) if routes.is_empty() => format!("There is no route {name:?} that caches."),
                _ => headline(&routes, one.as_deref()),
            };
            let all = one.map(|_| {
                view! { <p class="hint"><a href=address.with("route", None).href()>"All routes"</a></p> }
            });
            view! {
                <Said text=sentence/>
                {all}
                <Routes routes=routes requests=requests/>
                <Purges purges=purges now=now draft=draft/>
            }
            .into_any()
        },
    )
}

/// Purges if a form says so, and leads back to the page, so that nothing is done twice.
async fn purged(posted: Option<Posted>, here: &str) -> Result<Draft, Error> {
    let Some(form) = posted else { return Ok(Draft::default()) };
    let done = purge_cache(form.get("kind"), form.get("target")).await;
    Ok(match form.judge(done)? {
        Ok(()) => {
            leptos_axum::redirect(here);
            Draft::default()
        }
        Err(draft) => draft,
    })
}

/// What all caches have saved together, or one route's has.
fn headline(routes: &[CacheUse], one: Option<&str>) -> String {
    if routes.is_empty() {
        return "No route caches.".into();
    }
    let on = one.map(|route| format!(" on {route}")).unwrap_or_default();
    let sum = |of: fn(&CacheUse) -> u64| routes.iter().map(of).sum::<u64>();
    let (asked, hits, calls) = (sum(|route| route.asked), sum(CacheUse::hits), sum(CacheUse::saved_calls));
    let seconds = sum(CacheUse::saved_us) / 1_000_000;
    match (asked, hits) {
        (0, _) => format!("No request{on} came as far as a cache in this window."),
        (asked, 0) => format!("The cache served none of {}{on} in this window.", count(asked, "request")),
        _ => {
            let time = match seconds {
                0 => String::new(),
                some => format!(" and {} of upstream time", span_words(time::Duration::seconds(some as i64))),
            };
            format!(
                "{} of {}{on} {} served from cache ({}): {}{time} saved.",
                grouped(hits),
                count(asked, "request"),
                were(hits),
                percent(hits, asked),
                count(calls, "upstream call")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::outcome::Outcome;

    #[test]
    fn the_first_line_says_what_was_saved() {
        assert_eq!(headline(&[], None), "No route caches.");
        let idle = CacheUse { route: "orders".into(), is_cached: true, ..CacheUse::default() };
        assert_eq!(
            headline(std::slice::from_ref(&idle), None),
            "No request came as far as a cache in this window."
        );
        let useless = CacheUse { asked: 9_000, ..idle.clone() };
        assert_eq!(headline(&[useless], None), "The cache served none of 9,000 requests in this window.");
        let busy = CacheUse {
            asked: 12_340,
            served: vec![(Outcome::CacheHit, 10_000), (Outcome::CacheStale, 250)],
            refreshed: 10,
            reached: 2_000,
            upstream_us: 480_000_000,
            ..idle
        };
        assert_eq!(
            headline(&[busy], Some("orders")),
            "10,250 of 12,340 requests on orders were served from cache (83.1 %): 10,240 upstream calls and 40 min 57 s of upstream time saved."
        );
    }
}
