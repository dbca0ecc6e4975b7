//! The portal: what browser and server share. `frontend` hydrates it, `server` renders it.

pub mod domain;
pub mod error;
pub mod screens;
pub mod session;
pub mod widgets;

#[cfg(feature = "ssr")]
pub mod announce;
#[cfg(feature = "ssr")]
pub mod books;
#[cfg(feature = "ssr")]
pub mod keys;
#[cfg(feature = "ssr")]
pub mod people;
#[cfg(feature = "ssr")]
mod shell;
#[cfg(feature = "ssr")]
pub mod site;

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use screens::invite::Invite;
use screens::ops::Ops;
use screens::portal::Portal;
use screens::sign_in::SignIn;
#[cfg(feature = "ssr")]
pub use shell::shell;
use widgets::failed::NotFound;

/// Every screen, a line each. All are rendered whole before they are sent: an answer has its right status, and a page
/// needs no scripts.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Title formatter=|title: String| format!("{title} · Toll") text="Toll"/>
        <Router>
            <Routes fallback=NotFound>
                <Route path=path!("/") view=SignIn ssr=SsrMode::Async/>
                <Route path=path!("/invite/:token") view=Invite ssr=SsrMode::Async/>
                <Route path=path!("/ops") view=Ops ssr=SsrMode::Async/>
                <Route path=path!("/portal") view=Portal ssr=SsrMode::Async/>
            </Routes>
        </Router>
    }
}
