//! `/ops/audit`: whether the books agree, and who changed what.

pub mod api;
mod changes;
mod ledger;

use leptos::prelude::*;

use self::api::{Changes, Ledger, ops_changes, ops_ledger};
use self::changes::ChangeList;
use self::ledger::Books;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;

#[component]
pub fn OpsAudit() -> impl IntoView {
    let address = Address::current();
    let (span, recount) = (address.span().to_string(), address.get("recount") == Some("on"));
    let what = address.get("what").unwrap_or_default().to_owned();
    let before = address.get("before").and_then(|before| before.parse().ok());
    let fetch = async move {
        let ledger = ops_ledger(span, recount).await?;
        let changes = ops_changes(what, before).await?;
        Ok((Some(ledger.funnel.window()), (ledger, changes)))
    };
    Screen::new("Audit", "/ops/audit")
        .asks("Do the books agree, and who changed what?")
        .show(fetch, |data, _| view! { <Page data=data address=address/> }.into_any())
}

#[component]
fn Page(data: (Ledger, Changes), address: Address) -> impl IntoView {
    let (ledger, changes) = data;
    view! {
        <Books ledger=ledger address=address.clone()/>
        <ChangeList changes=changes address=address/>
    }
}
