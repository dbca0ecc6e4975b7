//! `/sign-up`: whoever likes a plan that is open to all becomes a partner on it.

pub mod api;

use leptos::prelude::*;
use leptos_meta::Title;

use self::api::{sign_up, sign_up_plans};
use crate::domain::quota::terms;
use crate::error::Error;
use crate::people::{MIN_PASSWORD, OpenPlan};
use crate::posted::Posted;
use crate::screens::screen::after;
use crate::widgets::field::{Field, Problem};

/// Where a form that was taken leads: the sign-in, which says what to do there.
const DONE: &str = "/?welcome=1";

enum Shown {
    Form { plans: Vec<OpenPlan>, typed: Option<Posted>, problem: Option<String> },
    Done,
}

#[component]
pub fn SignUp() -> impl IntoView {
    let page = after(shown(Posted::current()), |shown| match shown {
        Shown::Form { plans, typed, problem } => {
            view! { <Form plans=plans typed=typed problem=problem/> }.into_any()
        }
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
    let Some(form) = posted else { return Ok(Shown::Form { plans, typed: None, problem: None }) };
    match sign_up(form.get("plan"), form.get("name"), form.get("email"), form.get("password")).await {
        Ok(()) => Ok(Shown::Done),
        Err(error @ (Error::Invalid(_) | Error::TooManyAttempts { .. })) => {
            Ok(Shown::Form { plans, typed: Some(form), problem: Some(error.to_string()) })
        }
        Err(error) => Err(error),
    }
}

#[component]
fn Form(plans: Vec<OpenPlan>, typed: Option<Posted>, problem: Option<String>) -> impl IntoView {
    let was = |name: &str| typed.as_ref().map(|form| form.get(name)).unwrap_or_default();
    let chosen = Some(was("plan")).filter(|plan| !plan.is_empty()).unwrap_or_else(|| plans[0].name.clone());
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
    view! {
        <main id="content" class="door">
            <div class="door-sheet">
                <p class="brand">"Toll"</p>
                <h1>"Sign up"</h1>
                <p class="door-lead">"You get a place of your own: keys, and the way of each of your requests."</p>
                <form method="post" action="/sign-up">
                    <fieldset class="field plans"><legend>"Plan"</legend>{plans.collect_view()}</fieldset>
                    <Field name="name" label="Company or project" autocomplete="organization" value=was("name")/>
                    <Field name="email" label="E-mail" kind="email" autocomplete="username" value=was("email")/>
                    <Field name="password" label="Password" kind="password" autocomplete="new-password" min_length=MIN_PASSWORD
                        hint=format!("At least {MIN_PASSWORD} characters. A sentence is easier to keep in mind.")/>
                    <Problem text=problem/>
                    <button>"Sign up"</button>
                </form>
                <p class="hint">"You have an account? "<a href="/">"Sign in"</a></p>
            </div>
        </main>
    }
}
