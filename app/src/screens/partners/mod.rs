//! `/ops/partners`: everybody who has a plan, and what they send.

mod acts;
pub mod api;
pub mod create;
pub mod one;
mod people;

use leptos::prelude::*;

use self::api::{List, ops_partners};
use crate::domain::numbers::grouped;
use crate::partners::{Listed, PAGE};
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::mini_funnel::MiniFunnel;
use crate::widgets::pager::Pager;

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
    let is_empty = shown.partners.is_empty();
    let kept: Vec<_> = address
        .parameters_without(&["search", "page"])
        .into_iter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value/> })
        .collect();
    let rows: Vec<_> = shown.partners.into_iter().map(|listed| row(listed, &address)).collect();
    let table = match is_empty {
        true if search.is_empty() => view! {
            <p class="hint">"No partner yet. Create the first one, or declare it in a file for "<code>"toll apply"</code>"."</p>
        }
        .into_any(),
        true => view! { <p class="hint">"No partner has "<b>{search.clone()}</b>" in its slug or name."</p> }.into_any(),
        false => view! {
            <table class="list">
                <thead>
                    <tr>
                        <th scope="col">"Partner"</th>
                        <th scope="col">"Plan"</th>
                        <th scope="col" class="r">"Keys"</th>
                        <th scope="col" class="drawn">"From door to upstream"</th>
                        <th scope="col" class="r">"Requests"</th>
                        <th scope="col" class="r">"Stopped"</th>
                        <th scope="col" class="r">"From cache"</th>
                        <th scope="col" class="r">"Reached"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        }
        .into_any(),
    };
    view! {
        <div class="above-list">
            <form method="get" class="search" role="search">
                {kept}
                <label class="visually-hidden" for="search">"Slug or name"</label>
                <input id="search" type="search" name="search" value=search placeholder="Slug or name"/>
                <button class="quiet">"Find"</button>
            </form>
            <p class="soft">{format!("{} {}", grouped(total), if total == 1 { "partner" } else { "partners" })}</p>
            <a class="btn" href="/ops/partners/new">"New partner"</a>
        </div>
        <section aria-label="Partners">
            {table}
            <Pager address=address page=page size=PAGE total=total as i64/>
        </section>
    }
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
