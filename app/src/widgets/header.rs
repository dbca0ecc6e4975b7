//! The bar at the top: where one is, where one can go, and as whom.

use leptos::prelude::*;

use super::address::Address;
use crate::session::{Role, Viewer};

#[component]
pub fn Header(
    viewer: Viewer,
    /// The path of the page, to mark it.
    here: &'static str,
    address: Address,
) -> impl IntoView {
    let pages: &[_] = match viewer.role {
        Role::Ops => &[
            ("/ops", "Overview"),
            ("/ops/partners", "Partners"),
            ("/ops/routes", "Routes"),
            ("/ops/upstreams", "Upstreams"),
            ("/ops/cache", "Cache"),
            ("/ops/latency", "Latency"),
            ("/ops/requests", "Requests"),
            ("/ops/audit", "Audit"),
            ("/ops/people", "People"),
        ],
        Role::Partner { .. } => &[
            ("/portal", "My traffic"),
            ("/portal/keys", "Keys"),
            ("/portal/requests", "Requests"),
            ("/portal/docs", "Docs"),
            ("/portal/people", "People"),
        ],
    };
    let home = viewer.home();
    // The window goes along.
    let links = pages.iter().map(|(path, name)| {
        let href = address.elsewhere(path).href();
        view! { <a href=href aria-current=(*path == here).then_some("page")>{*name}</a> }
    });
    view! {
        <header class="top">
            <div class="wrap">
                <a class="brand" href=home>"Toll"</a>
                <nav aria-label="Main">{links.collect_view()}</nav>
                <details class="who">
                    <summary><span class="visually-hidden">"Signed in as "</span><span class="who-name">{viewer.email}</span></summary>
                    <div class="who-menu">
                        <a class="btn quiet" href="/account">"Account and password"</a>
                        <form method="post" action="/_fn/sign_out">
                            <button class="quiet" name="everywhere" value="false">"Sign out"</button>
                        </form>
                    </div>
                </details>
            </div>
        </header>
    }
}
