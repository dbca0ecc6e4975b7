//! `/ops/upstreams`: which breakers are open, when they were, and whom they held back.

pub mod api;
mod headline;
mod one;
mod outages;

use leptos::prelude::*;

use self::api::{Charted, CloseBreaker, Listing, OpenBreaker};
use self::headline::{Telling, headline};
use self::one::OneUpstream;
use self::outages::Outages;
use crate::error::Error;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::field::Problem;
use crate::widgets::headline::Said;

#[component]
pub fn Upstreams() -> impl IntoView {
    let address = Address::current();
    let span = address.span().to_string();
    // What a form without scripts was answered, by way of the address.
    let (open, close) = (ServerAction::<OpenBreaker>::new(), ServerAction::<CloseBreaker>::new());
    let problem = [open.value().get_untracked(), close.value().get_untracked()];
    let problem = problem
        .into_iter()
        .flatten()
        .find_map(|result: Result<(), Error>| result.err())
        .map(|error| error.by_address());
    let fetch = async {
        let listing = api::ops_upstreams(span).await?;
        Ok((Some(listing.window), listing))
    };
    Screen::new("Upstreams", "/ops/upstreams").asks("Which breakers are open?").show(fetch, move |listing, _| {
        let Listing { window, now, mut upstreams, mut opened, mut held_back, mut outages } = listing;
        let is_empty = upstreams.is_empty();
        let dated = address.span().dated(window);
        // A link may be about one of them.
        let one = address.get("upstream").map(str::to_owned);
        if let Some(name) = &one {
            upstreams.retain(|charted| charted.upstream.name == *name);
            opened.retain(|opened| opened.newest.upstream == *name);
            outages.retain(|held| held.newest().upstream == *name);
            held_back = opened.first().map_or_else(Default::default, |opened| opened.held);
        }
        let requests = address.elsewhere("/ops/requests");
        let sentence = match &one {
            Some(name) if upstreams.is_empty() => format!("There is no upstream {name:?}."),
            _ => headline(&upstreams, &opened, held_back, &Telling { window, dated, now }),
        };
        let all = one.map(|_| address.with("upstream", None).href());
        let sections: Vec<_> = upstreams
            .into_iter()
            .map(|of: Charted| view! { <OneUpstream of=of now=now requests=requests.clone()/> })
            .collect();
        view! {
            <Said text=sentence/>
            <Problem text=problem/>
            {all.map(|href| view! { <p class="hint"><a href=href>"All upstreams"</a></p> })}
            {is_empty.then(|| view! { <p class="empty">"An upstream is declared in the file that `toll apply` reads, or under Routes."</p> })}
            {sections}
            <Outages held=outages dated=dated requests=requests/>
        }
        .into_any()
    })
}
