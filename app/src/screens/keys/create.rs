//! `/portal/keys/new`: the form for a key, and the key as the answer to it.

use leptos::prelude::*;

use super::api::{Made, Offer, create_key, key_offer};
use super::made::Reveal;
use crate::domain::numbers::{count, grouped};
use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::field::{Field, Problem};

/// What is offered, in days; 0 is never.
const EXPIRIES: [(u16, &str); 5] =
    [(7, "7 days"), (30, "30 days"), (60, "60 days"), (90, "90 days"), (0, "never")];
const SET: u16 = 30;

/// Before the form is sent, and after.
enum Shown {
    Form(Offer, Draft),
    Made(Made),
}

#[component]
pub fn CreateKey() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("Create a key", "/portal/keys").still().show(fetch, |shown, _| {
        let inside = match shown {
            Shown::Made(made) => view! { <Reveal made=made/> }.into_any(),
            Shown::Form(offer, draft) => view! { <Form offer=offer draft=draft/> }.into_any(),
        };
        view! { <section class="sheet" aria-labelledby="sheet-title">{inside}</section> }.into_any()
    })
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let Some(form) = posted else { return Ok(Shown::Form(key_offer().await?, Draft::default())) };
    let routes = form.all("routes").join(",");
    let done = match form.number("days", i64::from(SET)) {
        Ok(days) => create_key(form.get("name"), days, routes).await,
        Err(error) => Err(error),
    };
    Ok(match form.judge(done)? {
        Ok(made) => Shown::Made(made),
        Err(draft) => Shown::Form(key_offer().await?, draft),
    })
}

#[component]
fn Form(offer: Offer, draft: Draft) -> impl IntoView {
    let Offer { plan, allowance, routes } = offer;
    let count = format!(
        "In use: {} of {}, by plan {plan}.",
        grouped(allowance.used as u64),
        count(allowance.max as u64, "key")
    );
    if allowance.is_spent() {
        return view! {
            <h2 id="sheet-title">"No more keys"</h2>
            <p class="soft">{count}" Revoke one that is not needed, or rotate the one that you want to replace: that needs no place."</p>
            <p class="acts"><a class="btn" href="/portal/keys" data-close="">"Back to the keys"</a></p>
        }
        .into_any();
    }
    let Draft { typed, problem } = draft;
    let set = typed.get("days").parse().unwrap_or(SET);
    let expiries = EXPIRIES.map(|(days, name)| {
        view! {
            <label class="choice"><input type="radio" name="days" value=days.to_string() checked=days == set/>{name}</label>
        }
    });
    let limits = (routes.len() > 1).then(|| {
        let ticked = typed.all("routes");
        let is_limited = !ticked.is_empty();
        let routes = routes.into_iter().map(|route| {
            let is_on = ticked.contains(&route);
            view! { <label class="choice"><input type="checkbox" name="routes" value=route.clone() checked=is_on/>{route}</label> }
        });
        view! {
            <details class="field limits" open=is_limited>
                <summary>"Limit it to some routes"</summary>
                <div class="choices">{routes.collect_view()}</div>
                <p class="hint">"With none ticked it opens all of your plan."</p>
            </details>
        }
    });
    view! {
        <h2 id="sheet-title">"Create a key"</h2>
        <p class="soft">{count}</p>
        <form method="post" action="/portal/keys/new">
            <Field name="name" label="Name" autocomplete="off" autofocus=true value=typed.get("name")
                hint="Where it will be used, such as Production. You can change it later.".to_owned()/>
            <fieldset class="field">
                <legend>"Expires after"</legend>
                <div class="choices">{expiries}</div>
            </fieldset>
            {limits}
            <Problem text=problem/>
            <p class="acts">
                <button>"Create key"</button>
                <a class="btn quiet" href="/portal/keys" data-close="">"Cancel"</a>
            </p>
        </form>
    }
    .into_any()
}
