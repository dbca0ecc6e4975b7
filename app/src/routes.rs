//! Every screen, a line each.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::screens::cache::Cache;
use crate::screens::docs::Docs;
use crate::screens::invite::Invite;
use crate::screens::keys::Keys;
use crate::screens::keys::change::ChangeKey;
use crate::screens::keys::create::CreateKey;
use crate::screens::latency::Latency;
use crate::screens::ops::Ops;
use crate::screens::people::People;
use crate::screens::portal::Portal;
use crate::screens::receipt::ReceiptPage;
use crate::screens::requests::Requests;
use crate::screens::sign_in::SignIn;
use crate::screens::upstreams::Upstreams;
use crate::widgets::failed::NotFound;

/// All are rendered whole before they are sent: an answer has its right status, and a page needs no scripts.
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
                <Route path=path!("/ops/upstreams") view=Upstreams ssr=SsrMode::Async/>
                <Route path=path!("/ops/cache") view=Cache ssr=SsrMode::Async/>
                <Route path=path!("/ops/latency") view=Latency ssr=SsrMode::Async/>
                <Route path=path!("/ops/requests") view=Requests ssr=SsrMode::Async/>
                <Route path=path!("/portal") view=Portal ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys") view=Keys ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys/new") view=CreateKey ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys/:id/:act") view=ChangeKey ssr=SsrMode::Async/>
                <Route path=path!("/portal/docs") view=Docs ssr=SsrMode::Async/>
                <Route path=path!("/portal/people") view=People ssr=SsrMode::Async/>
                <Route path=path!("/r/:id") view=ReceiptPage ssr=SsrMode::Async/>
            </Routes>
        </Router>
    }
}
