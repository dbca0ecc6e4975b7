//! `/ops/partners`: everybody who has a plan, and what they send.

mod acts;
pub mod api;
pub mod create;
pub mod one;

use leptos::prelude::*;

use self::api::{List, ops_partners};
use crate::domain::numbers::{count, grouped, so_many_of};
use crate::partners::{Listed, PAGE};
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::headline::Said;
use crate::widgets::mini_funnel::MiniFunnel;
use crate::widgets::pager::Pager;
use crate::widgets::table::Table;

#[component]
pub fn Partners() -> impl IntoView {
    let address = Address::current();
    let search = address.get("search").unwrap_or_default().to_owned();
    let page = address.get("page").and_then(|page| page.parse().ok()).unwrap_or(1_i64).max(1);
    let span = address.span().to_string();
    let asked = search.clone();
    let fetch = async move {
        let list = ops_partners(span, asked, page - 1).await?;
        Ok((Some(list.window), list))
    };
    Screen::new("Partners", "/ops/partners")
        .asks("Who calls, and how does it go?")
        .show(fetch, move |list, _| {
            view! { <Everybody list=list search=search page=page address=address/> }.into_any()
        })
}

#[component]
fn Everybody(list: List, search: String, page: i64, address: Address) -> impl IntoView {
    let List { page: shown, .. } = list;
    let total = shown.total.max(0) as u64;
    let kept: Vec<_> = address
        .parameters_without(&["search", "page"])
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
        .collect();
    let sentence = sentence(&shown.partners, total, &search);
    let rows: Vec<_> = shown.partners.into_iter().map(|listed| row(listed, &address)).collect();
    let none = match search.is_empty() {
        true => view! {
            <p class="hint">"No partner yet. Create the first one, or declare it in a file for "<code>"toll apply"</code>"."</p>
        }
        .into_any(),
        false => view! { <p class="hint">"No partner has "<b>{search.clone()}</b>" in its slug or name."</p> }.into_any(),
    };
    let columns = vec![
        ("", "Partner"),
        ("", "Plan"),
        ("r", "Keys"),
        ("drawn", "From door to upstream"),
        ("r", "Requests"),
        ("r", "Stopped"),
        ("r", "From cache"),
        ("r", "Reached"),
    ];
    view! {
        <Said text=sentence/>
        <div class="above-list">
            <form method="get" class="search" role="search">
                {kept}
                <label class="visually-hidden" for="search">"Slug or name"</label>
                <input id="search" type="search" name="search" value=search placeholder="Slug or name"/>
                <button class="quiet">"Find"</button>
            </form>
            <a class="btn" href="/ops/partners/new">"New partner"</a>
        </div>
        <section aria-label="Partners">
            <Table columns=columns rows=rows otherwise=none/>
            <Pager address=address page=page size=PAGE total=total as i64/>
        </section>
    }
}

/// Who called, and whom it went worst for, where all are on the page.
fn sentence(shown: &[Listed], total: u64, search: &str) -> String {
    if !search.is_empty() {
        return format!("{} found.", count(total, "partner"));
    }
    if total == 0 {
        return "There is no partner yet.".into();
    }
    if shown.len() as u64 != total {
        return format!("{}, {} on this page.", count(total, "partner"), grouped(shown.len() as u64));
    }
    let called = shown.iter().filter(|listed| listed.ends.arrived() > 0).count() as u64;
    let worst = shown.iter().max_by_key(|listed| listed.ends.refused()).filter(|l| l.ends.refused() > 0);
    let worst = worst.map(|Listed { partner, ends, .. }| {
        let (refused, arrived) = (grouped(ends.refused()), count(ends.arrived(), "request"));
        format!(" {} was stopped most: {refused} of {arrived}.", partner.name)
    });
    format!("{} called in this window.{}", so_many_of(called, total, "partner"), worst.unwrap_or_default())
}

fn row(listed: Listed, address: &Address) -> impl IntoView + use<> {
    let Listed { partner, keys, ends } = listed;
    let page = address.elsewhere(&format!("/ops/partners/{}", partner.slug)).href();
    let cached = ends.at(crate::domain::stage::Stage::Cache);
    let id = format!("partner-{}", partner.slug);
    view! {
        <tr id=id>
            <th scope="row">
                <a href=page>{partner.name}</a>
                {partner.suspended.then(|| view! { <span class="tag warn">"suspended"</span> })}
                <span class="why">{partner.slug}</span>
            </th>
            <td data-label="Plan">{partner.plan}</td>
            <td class="r" data-label="Keys">{grouped(keys.max(0) as u64)}</td>
            <td class="drawn"><MiniFunnel ends=ends/></td>
            <td class="r" data-label="Requests">{grouped(ends.arrived())}</td>
            <td class="r" data-label="Stopped">{grouped(ends.refused())}</td>
            <td class="r" data-label="From cache">{grouped(cached)}</td>
            <td class="r" data-label="Reached">{grouped(ends.reached)}</td>
        </tr>
    }
}
