//! `/ops/partners/new`: a partner, by its slug and plan.

use leptos::prelude::*;

use super::api::{create_partner, ops_plans};
use crate::error::Error;
use crate::partners::Plan;
use crate::posted::Posted;
use crate::screens::screen::Screen;
use crate::widgets::choice::Choice;
use crate::widgets::field::{Field, Problem};

/// The form, as it was sent if it was.
struct Shown {
    plans: Vec<Plan>,
    slug: String,
    name: String,
    plan: String,
    problem: Option<String>,
}

#[component]
pub fn CreatePartner() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("New partner", "/ops/partners")
        .still()
        .show(fetch, |shown, _| view! { <Form shown=shown/> }.into_any())
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let plans = ops_plans().await?;
    let get = |name| posted.as_ref().map(|form| form.get(name)).unwrap_or_default();
    let (slug, name, plan) = (get("slug"), get("name"), get("plan"));
    let problem = match posted.is_some() {
        false => None,
        true => match create_partner(slug.clone(), name.clone(), plan.clone()).await {
            Ok(()) => None,
            Err(Error::Invalid(problem)) => Some(problem),
            Err(error) => return Err(error),
        },
    };
    Ok(Shown { plans, slug, name, plan, problem })
}

#[component]
fn Form(shown: Shown) -> impl IntoView {
    let Shown { plans, slug, name, plan, problem } = shown;
    if plans.is_empty() {
        return view! {
            <p class="hint">"A partner needs a plan, and there is none yet: declare one in a file for "<code>"toll apply"</code>"."</p>
        }
        .into_any();
    }
    let plans: Vec<_> = plans.into_iter().map(|plan| (plan.name.clone(), plan.words())).collect();
    view! {
        <form method="post" action="/ops/partners/new" class="narrow">
            <Field name="slug" label="Slug" autocomplete="off" autofocus=true value=slug
                hint="Stands in commands and addresses: lower-case letters, digits, - and _.".to_owned()/>
            <Field name="name" label="Name" autocomplete="off" value=name required=false
                hint="What people call it; without one, the slug.".to_owned()/>
            <Choice name="plan" label="Plan" options=plans chosen=plan/>
            <Problem text=problem/>
            <p class="acts">
                <button>"Create partner"</button>
                <a class="btn quiet" href="/ops/partners">"Cancel"</a>
            </p>
        </form>
    }
    .into_any()
}
