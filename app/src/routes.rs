//! Every screen, a line each.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{Route, Router, Routes};
use leptos_router::{SsrMode, path};

use crate::screens::account::Account;
use crate::screens::audit::OpsAudit;
use crate::screens::cache::Cache;
use crate::screens::docs::Docs;
use crate::screens::invite::Invite;
use crate::screens::keys::Keys;
use crate::screens::keys::change::ChangeKey;
use crate::screens::keys::create::CreateKey;
use crate::screens::latency::Latency;
use crate::screens::my_requests::MyRequests;
use crate::screens::operators::Operators;
use crate::screens::ops::Ops;
use crate::screens::partners::Partners;
use crate::screens::partners::create::CreatePartner;
use crate::screens::partners::one::OnePartner;
use crate::screens::people::People;
use crate::screens::portal::Portal;
use crate::screens::receipt::ReceiptPage;
use crate::screens::requests::Requests;
use crate::screens::reset::Reset;
use crate::screens::routes::OpsRoutes;
use crate::screens::routes::change::{ChangeRoute, CreateRoute};
use crate::screens::sign_in::SignIn;
use crate::screens::sign_up::SignUp;
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
                <Route path=path!("/reset/:token") view=Reset ssr=SsrMode::Async/>
                <Route path=path!("/sign-up") view=SignUp ssr=SsrMode::Async/>
                <Route path=path!("/account") view=Account ssr=SsrMode::Async/>
                <Route path=path!("/ops") view=Ops ssr=SsrMode::Async/>
                <Route path=path!("/ops/partners") view=Partners ssr=SsrMode::Async/>
                <Route path=path!("/ops/partners/new") view=CreatePartner ssr=SsrMode::Async/>
                <Route path=path!("/ops/partners/:slug") view=OnePartner ssr=SsrMode::Async/>
                <Route path=path!("/ops/people") view=Operators ssr=SsrMode::Async/>
                <Route path=path!("/ops/routes") view=OpsRoutes ssr=SsrMode::Async/>
                <Route path=path!("/ops/routes/new") view=CreateRoute ssr=SsrMode::Async/>
                <Route path=path!("/ops/routes/:name") view=ChangeRoute ssr=SsrMode::Async/>
                <Route path=path!("/ops/audit") view=OpsAudit ssr=SsrMode::Async/>
                <Route path=path!("/ops/upstreams") view=Upstreams ssr=SsrMode::Async/>
                <Route path=path!("/ops/cache") view=Cache ssr=SsrMode::Async/>
                <Route path=path!("/ops/latency") view=Latency ssr=SsrMode::Async/>
                <Route path=path!("/ops/requests") view=Requests ssr=SsrMode::Async/>
                <Route path=path!("/portal") view=Portal ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys") view=Keys ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys/new") view=CreateKey ssr=SsrMode::Async/>
                <Route path=path!("/portal/keys/:id/:act") view=ChangeKey ssr=SsrMode::Async/>
                <Route path=path!("/portal/requests") view=MyRequests ssr=SsrMode::Async/>
                <Route path=path!("/portal/docs") view=Docs ssr=SsrMode::Async/>
                <Route path=path!("/portal/people") view=People ssr=SsrMode::Async/>
                <Route path=path!("/r/:id") view=ReceiptPage ssr=SsrMode::Async/>
            </Routes>
        </Router>
    }
}
