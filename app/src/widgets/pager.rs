//! Links to the pages of a list, which the address counts from 1.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::numbers::grouped;

/// "Page 2 of 1,204"
pub fn place(page: i64, last: i64) -> String {
    format!("Page {} of {}", grouped(page.max(0) as u64), grouped(last.max(0) as u64))
}

/// Nothing, if all fits on one page.
#[component]
pub fn Pager(
    address: Address,
    page: i64,
    /// Things on a page.
    size: i64,
    total: i64,
) -> impl IntoView {
    let last = ((total + size - 1) / size).max(1);
    let link = |to: i64, text: &'static str| {
        (1..=last).contains(&to).then(|| {
            let href = address.with("page", (to > 1).then(|| to.to_string()).as_deref()).href();
            view! { <a href=href>{text}</a> }
        })
    };
    (last > 1).then(|| {
        view! {
            <nav class="pager" aria-label="Pages">
                {link(page - 1, "← Before")}
                <span>{place(page, last)}</span>
                {link(page + 1, "Next →")}
            </nav>
        }
    })
}
