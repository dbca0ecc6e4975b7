//! Links to the pages of a list, which the address counts from 1.

use leptos::prelude::*;

use super::address::Address;

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
                <span>{format!("Page {page} of {last}")}</span>
                {link(page + 1, "Next →")}
            </nav>
        }
    })
}
