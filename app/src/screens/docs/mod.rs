//! `/portal/docs`: where to call, what may be called, how, and what each refusal means.

pub mod api;
mod refusals;
mod snippets;

use leptos::prelude::*;

use self::api::{Manual, partner_manual};
use self::refusals::RefusalTable;
use self::snippets::{javascript, python};
use crate::access::{OpenKey, OpenRoute};
use crate::domain::quota::terms;
use crate::screens::screen::Screen;
use crate::widgets::snippet::{Snippet, curl};
use crate::widgets::table::Table;

#[component]
pub fn Docs() -> impl IntoView {
    let fetch = async { Ok((None, partner_manual().await?)) };
    Screen::new("Docs", "/portal/docs")
        .asks("How do I call?")
        .still()
        .show(fetch, |manual, _| view! { <Page manual=manual/> }.into_any())
}

#[component]
fn Page(manual: Manual) -> impl IntoView {
    let Manual { access, gateway } = manual;
    let (path, key) = (access.example_path(None).to_owned(), access.key_start());
    let whole = match access.keys.is_empty() {
        true => view! { <>"You have no key yet: "<a href="/portal/keys">"create one"</a>"."</> }.into_any(),
        false => view! { <>"The examples show how your newest key begins; put the whole of it there."</> }
            .into_any(),
    };
    let url = format!("{gateway}{path}");
    let quota = terms(access.capacity, access.refill_per_second);
    view! {
        <p class="verdict">"Call "<code>{gateway.clone()}</code>" with your key in the header "<code>"X-Api-Key"</code>"."</p>
        <section aria-labelledby="call-title" class="prose">
            <h2 id="call-title">"A first call"</h2>
            <p>{whole}" Or send it as "<code>"Authorization: Bearer …"</code>"; never in the address, where logs would keep it."</p>
            <h3>"curl"</h3>
            <Snippet text=curl(&gateway, &path, &key) name="the curl command"/>
            <h3>"JavaScript"</h3>
            <Snippet text=javascript(&url, &key) name="the JavaScript"/>
            <h3>"Python"</h3>
            <Snippet text=python(&url, &key) name="the Python"/>
        </section>
        <section aria-labelledby="routes-title">
            <h2 id="routes-title">"Routes"<small>{format!("of plan {}", access.plan)}</small></h2>
            {routes(access.routes, &access.keys, &gateway)}
        </section>
        <section aria-labelledby="quota-title" class="prose">
            <h2 id="quota-title">"Quota"</h2>
            <p>
                "Plan "{access.plan}": "{quota}". All your keys draw from the same bucket, so more keys give no more quota. Each answer says how it stands in "
                <code>"X-RateLimit-Remaining"</code>"; a refusal says in "<code>"Retry-After"</code>" how many seconds to wait. Who waits that long and is alone is served."
            </p>
        </section>
        <section aria-labelledby="answers-title" class="prose">
            <h2 id="answers-title">"Which part answered"</h2>
            <p>
                "Every answer carries "<code>"X-Toll-Stage"</code>" and "<code>"X-Toll-Outcome"</code>", and in "<code>"X-Toll-Id"</code>
                " the number of its receipt: open "<code>"/r/"</code>" and that number here, and you see what happened at each stage."
            </p>
        </section>
        <RefusalTable/>
    }
}

fn routes(routes: Vec<OpenRoute>, keys: &[OpenKey], gateway: &str) -> impl IntoView + use<> {
    let row = |route: OpenRoute| {
        let opens = |key: &&OpenKey| key.routes.as_ref().is_none_or(|routes| routes.contains(&route.name));
        let opening: Vec<_> = keys.iter().filter(opens).map(|key| key.name.clone()).collect();
        let with = match (route.is_public, opening.len()) {
            (true, _) => "no key needed".to_owned(),
            (false, n) if n == keys.len() => "every key".to_owned(),
            (false, 0) => "none of your keys".to_owned(),
            (false, _) => opening.join(", "),
        };
        let methods = route.methods.map_or("all".to_owned(), |methods| methods.join(", "));
        view! {
            <tr>
                <th scope="row">{route.name}{route.is_off.then(|| view! { <span class="why">"switched off at the moment"</span> })}</th>
                <td><code>{format!("{gateway}{}", route.path)}</code></td>
                <td data-label="Methods">{methods}</td>
                <td data-label="Opened by">{with}</td>
            </tr>
        }
    };
    let rows: Vec<_> = routes.into_iter().map(row).collect();
    let columns =
        vec![("", "Route"), ("", "Address, and everything below it"), ("", "Methods"), ("", "Opened by")];
    let none = view! { <p class="hint">"Your plan opens no route yet. Ask the operator."</p> };
    view! { <Table class="open-routes" columns=columns rows=rows otherwise=none.into_any()/> }
}
