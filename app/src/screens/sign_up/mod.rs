//! `/sign-up`: whoever likes a plan that is open to all becomes a partner on it.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use self::api::{sign_up, sign_up_plans};
use crate::domain::quota::terms;
use crate::error::Error;
use crate::people::OpenPlan;
use crate::posted::{Draft, Posted};
use crate::screens::screen::after;
use crate::widgets::door::{Door, NewPassword};
use crate::widgets::field::{Field, Problem};

/// Where a form that was taken leads: the sign-in, which says what to do there.
const DONE: &str = "/?welcome=1";

enum Shown {
    Form { plans: Vec<OpenPlan>, draft: Draft },
    Done,
}

#[component]
pub fn SignUp() -> impl IntoView {
    let page = after(shown(Posted::current()), |shown| match shown {
        Shown::Form { plans, draft } => view! { <Form plans=plans draft=draft/> }.into_any(),
        Shown::Done => {
            leptos_axum::redirect(DONE);
            ().into_any()
        }
    });
    view! {
        <Title text="Sign up"/>
        {page}
    }
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let plans = sign_up_plans().await?;
    if plans.is_empty() {
        return Err(Error::NotFound);
    }
    let Some(form) = posted else { return Ok(Shown::Form { plans, draft: Draft::default() }) };
    let done = sign_up(form.get("plan"), form.get("name"), form.get("email"), form.get("password")).await;
    Ok(match form.judge(done)? {
        Ok(()) => Shown::Done,
        Err(draft) => Shown::Form { plans, draft },
    })
}

#[component]
fn Form(plans: Vec<OpenPlan>, draft: Draft) -> impl IntoView {
    let Draft { typed, problem } = draft;
    let (name, email) = (typed.get("name"), typed.get("email"));
    let chosen =
        Some(typed.get("plan")).filter(|plan| !plan.is_empty()).unwrap_or_else(|| plans[0].name.clone());
    let several = plans.len() > 1;
    let plans = plans.into_iter().map(|plan| {
        let words = terms(plan.capacity as u32, plan.refill_per_second);
        let is_chosen = plan.name == chosen;
        view! {
            <label class="choice">
                <input type=if several { "radio" } else { "hidden" } name="plan" value=plan.name.clone() checked=is_chosen/>
                <span>{plan.name}<small>{words}</small></span>
            </label>
        }
    });
    let plans: Vec<_> = plans.collect();
    view! {
        <Door title="Sign up" lead="You get a place of your own: keys, and the way of each of your requests.">
            <form method="post">
                <fieldset class="field plans"><legend>"Plan"</legend>{plans}</fieldset>
                <Field name="name" label="Company or project" autocomplete="organization" value=name/>
                <Field name="email" label="E-mail" kind="email" autocomplete="username" value=email/>
                <NewPassword/>
                <Problem text=problem/>
                <button>"Sign up"</button>
            </form>
            <p class="hint">"You have an account? "<a href="/">"Sign in"</a></p>
        </Door>
    }
}
