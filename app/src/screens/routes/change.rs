//! `/ops/routes/new` and `/ops/routes/<name>`: a route's form. What is refused is told with everything still filled in.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::api::{RouteOffer, ops_route, save_route};
use super::form::{RouteForm, label};
use crate::error::Error;
use crate::posted::Posted;
use crate::screens::screen::Screen;
use crate::widgets::choice::{Check, Choice};
use crate::widgets::field::{Field, Problem};

struct Shown {
    offer: RouteOffer,
    is_new: bool,
    problem: Option<String>,
}

#[component]
pub fn CreateRoute() -> impl IntoView {
    screen("New route".to_owned(), None)
}

#[component]
pub fn ChangeRoute() -> impl IntoView {
    let name = use_params_map().get_untracked().get("name").unwrap_or_default();
    screen(name.clone(), Some(name))
}

fn screen(title: String, name: Option<String>) -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted, name).await?)) };
    Screen::new(title, "/ops/routes").still().show(fetch, |shown, _| view! { <Form shown=shown/> }.into_any())
}

async fn shown(posted: Option<Posted>, name: Option<String>) -> Result<Shown, Error> {
    let is_new = name.is_none();
    let mut offer = ops_route(name).await?;
    let mut problem = None;
    if let Some(form) = posted {
        offer.route = said(&form, &offer.route, is_new);
        let done = save_route(offer.route.clone(), is_new).await;
        problem = form.judge(done)?.err().and_then(|draft| draft.problem);
    }
    Ok(Shown { offer, is_new, problem })
}

/// A route keeps its name: the books know it by that.
fn said(form: &Posted, had: &RouteForm, is_new: bool) -> RouteForm {
    let ticked = |name| form.get(name) == "true";
    RouteForm {
        name: if is_new { form.get("name") } else { had.name.clone() },
        path: form.get("path"),
        upstream: form.get("upstream"),
        strip: ticked("strip"),
        methods: form.get("methods"),
        access: form.get("access"),
        body_limit: form.get("body_limit"),
        identity: ticked("identity"),
        cache: ticked("cache"),
        cache_ttl: form.get("cache_ttl"),
        cors: form.get("cors"),
        off: ticked("off"),
    }
}

#[component]
fn Form(shown: Shown) -> impl IntoView {
    let Shown { offer: RouteOffer { route, upstreams }, is_new, problem } = shown;
    if upstreams.is_empty() {
        return view! {
            <p class="hint">"A route leads to an upstream, and there is none yet: declare one in a file for "<code>"toll apply"</code>"."</p>
        }
        .into_any();
    }
    let here = if is_new { "/ops/routes/new".to_owned() } else { format!("/ops/routes/{}", route.name) };
    let upstreams = upstreams.into_iter().map(|name| (name.clone(), name)).collect();
    let accesses = vec![
        ("key".to_owned(), "with a key, within its quota".to_owned()),
        ("public".to_owned(), "public: no key, no quota".to_owned()),
    ];
    let name = is_new.then(|| {
        view! {
            <Field name="name" label=label("name") autocomplete="off" autofocus=true value=route.name.clone()
                hint="Stands in plans and in the books, and stays: lower-case letters, digits, - and _.".to_owned()/>
        }
    });
    view! {
        <form method="post" action=here class="route-form">
            <Problem text=problem/>
            {name}
            <Field name="path" label=label("path") autocomplete="off" value=route.path
                hint="Below /api, such as /orders: answers that and everything under it.".to_owned()/>
            <Choice name="upstream" label=label("upstream") options=upstreams chosen=route.upstream/>
            <Choice name="access" label=label("access") options=accesses chosen=route.access/>
            <Field name="methods" label=label("methods") autocomplete="off" value=route.methods required=false
                hint="Such as GET, HEAD; empty for all.".to_owned()/>
            <Field name="body_limit" label=label("body_limit") autocomplete="off" value=route.body_limit
                hint="Such as 1MiB; none for no limit.".to_owned()/>
            <Field name="cors" label=label("cors") autocomplete="off" value=route.cors required=false
                hint="Whose pages may call it, such as https://shop.example; empty for none.".to_owned()/>
            <Field name="cache_ttl" label=label("cache_ttl") autocomplete="off" value=route.cache_ttl
                hint="Of answers that say nothing about it themselves, such as 60s.".to_owned()/>
            <Check name="cache" label=label("cache") is_on=route.cache
                hint="As far as the upstream’s cache headers allow (RFC 9111)."/>
            <Check name="strip" label=label("strip") is_on=route.strip
                hint="The upstream sees what comes after it; unticked, all but /api."/>
            <Check name="identity" label=label("identity") is_on=route.identity
                hint="The upstream gets X-Toll-Partner and X-Toll-Key-Id."/>
            <Check name="off" label=label("off") is_on=route.off hint="Answers 503 route_off."/>
            <p class="acts">
                <button>{if is_new { "Create route" } else { "Save" }}</button>
                <a class="btn quiet" href="/ops/routes">"Cancel"</a>
            </p>
        </form>
    }
    .into_any()
}
