//! `/portal/keys`: the partner's keys, each with its last 30 days.

pub mod api;
pub mod change;
pub mod create;
mod made;

use leptos::prelude::*;
use time::OffsetDateTime;

use self::api::{KeyList, partner_keys};
use crate::domain::api_key::{ApiKey, KeyState};
use crate::domain::key_use::KeyUse;
use crate::domain::moment::{date, expiry, until};
use crate::domain::numbers::{count, grouped};
use crate::domain::stage::Stage;
use crate::islands::sheet::Sheets;
use crate::keys::PAGE;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::ends::Sparkline;
use crate::widgets::headline::Said;
use crate::widgets::pager::place;
use crate::widgets::table::Table;

#[component]
pub fn Keys() -> impl IntoView {
    let address = Address::current();
    let page = address.get("page").and_then(|page| page.parse().ok()).unwrap_or(1_i64).max(1);
    let fetch = async move { Ok((None, partner_keys(page - 1).await?)) };
    Screen::new("Keys", "/portal/keys")
        .asks("Which keys call, and how do they fare?")
        .show(fetch, move |list, _| view! { <List list=list page=page address=address/> }.into_any())
}

#[component]
fn List(list: KeyList, page: i64, address: Address) -> impl IntoView {
    let KeyList { keys, total, allowance, now } = list;
    let max = count(allowance.max as u64, "key");
    let said = match (allowance.used, allowance.is_spent()) {
        (0, _) if total == 0 => "You have no key yet.".to_owned(),
        (1, true) => "The one key of your plan is in use.".to_owned(),
        (_, true) => format!("All {max} of your plan are in use."),
        (1, false) => format!("1 of {max} is in use."),
        (used, false) => format!("{} of {max} are in use.", grouped(used as u64)),
    };
    let columns = vec![
        ("", "Name"),
        ("", "Key"),
        ("", "30 days"),
        ("", "Last used"),
        ("", "Created"),
        ("", "Expires"),
        ("unseen", "Change"),
    ];
    let is_empty = keys.is_empty();
    let rows: Vec<_> = keys.into_iter().map(|usage| row(usage, now)).collect();
    let pages = (total + PAGE - 1) / PAGE;
    view! {
        <Said text=said/>
        <p class="acts above">
            <a class="btn" href="/portal/keys/new" data-sheet="">"Create a key"</a>
            {allowance.is_spent().then(|| view! { <span class="hint">"Revoke or rotate one: rotating needs no place."</span> })}
        </p>
        {is_empty.then(|| view! {
            <div class="empty"><p>"A key is what your programs send with each request. It is shown once, when it is made; you can have one for each place that calls."</p></div>
        })}
        {(!is_empty).then(|| view! {
            <section aria-labelledby="keys-title">
                <h2 id="keys-title" class="visually-hidden">"Keys"</h2>
                <Table class="keys" columns=columns rows=rows/>
                <Legend/>
                {(pages > 1).then(|| pager(&address, page, pages))}
            </section>
        })}
        <Sheets/>
    }
}

fn row(usage: KeyUse, now: OffsetDateTime) -> impl IntoView {
    let last = usage.last.map_or("never".to_owned(), |last| last.words(now));
    let ApiKey { id, name, start, state, routes, created_at, expires_at, revoked_at, .. } = usage.key.clone();
    let (class, ends) = match (state, revoked_at) {
        (KeyState::Active, _) => ("", expiry(expires_at, now)),
        (KeyState::Expiring, _) => ("tag warn", expiry(expires_at, now)),
        (KeyState::Rotating, Some(at)) => ("tag", format!("replaced, ends {}", until(at, now))),
        (KeyState::Revoked, Some(at)) => ("tag over", format!("revoked {}", date(at))),
        (KeyState::Expired, _) => {
            ("tag over", format!("expired {}", expires_at.map(date).unwrap_or_default()))
        }
        (state, None) => ("tag", state.word().to_owned()),
    };
    let acts: &[(&str, &str)] = match state {
        KeyState::Active | KeyState::Expiring => {
            &[("rotate", "Rotate"), ("rename", "Rename"), ("revoke", "Revoke")]
        }
        KeyState::Rotating => &[("rename", "Rename"), ("revoke", "Revoke")],
        KeyState::Expired | KeyState::Revoked => &[("rename", "Rename")],
    };
    let acts = acts.iter().map(|(act, title)| {
        let href = format!("/portal/keys/{id}/{act}");
        view! { <a href=href data-sheet="" aria-label=format!("{title} {name}")>{*title}</a> }
    });
    view! {
        <tr id=format!("key-{id}") class:over=!state.is_honoured()>
            <th scope="row">{name.clone()}{routes.map(|routes| view! { <span class="why">{routes.join(", ")}" only"</span> })}</th>
            <td><code>{start}"…"</code></td>
            <td class="spark-cell"><Sparkline usage=usage/></td>
            <td data-label="Last used">{last}</td>
            <td data-label="Created">{date(created_at)}</td>
            <td data-label="Expires"><span class=class>{ends}</span></td>
            <td class="acts-cell">{acts.collect_view()}</td>
        </tr>
    }
}

/// The colours of the sparklines.
#[component]
fn Legend() -> impl IntoView {
    let stages = Stage::ALL.into_iter().rev().map(|stage| {
        let name = if stage == Stage::Proxy { "reached the upstream" } else { stage.name() };
        view! { <li class=format!("stage-{}", stage.name())><span class="dot" aria-hidden="true"></span>{name}</li> }
    });
    view! { <ul class="legend" aria-label="Where requests ended">{stages.collect_view()}</ul> }
}

fn pager(address: &Address, page: i64, pages: i64) -> impl IntoView + use<> {
    let link = |to: i64, words: &'static str| {
        let href = address.with("page", Some(&to.to_string())).href();
        (1..=pages).contains(&to).then(|| view! { <a href=href>{words}</a> })
    };
    view! {
        <nav class="pager" aria-label="Pages">
            {link(page - 1, "Newer")}<span>{place(page, pages)}</span>{link(page + 1, "Older")}
        </nav>
    }
}
