//! `/ops/partners/new`: a partner, by its slug and plan.

use leptos::prelude::*;

use super::api::{create_partner, ops_plans};
use crate::error::Error;
use crate::partners::Plan;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::choice::Choice;
use crate::widgets::field::{Field, Problem};

struct Shown {
    plans: Vec<Plan>,
    draft: Draft,
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
    let draft = match posted {
        None => Draft::default(),
        Some(form) => {
            let done = create_partner(form.get("slug"), form.get("name"), form.get("plan")).await;
            // One that was made leads to its page.
            form.judge(done)?.err().unwrap_or_default()
        }
    };
    Ok(Shown { plans, draft })
}

#[component]
fn Form(shown: Shown) -> impl IntoView {
    let Shown { plans, draft: Draft { typed, problem } } = shown;
    if plans.is_empty() {
        return view! {
            <p class="hint">"A partner needs a plan, and there is none yet: declare one in a file for "<code>"toll apply"</code>"."</p>
        }
        .into_any();
    }
    let plans: Vec<_> = plans.into_iter().map(|plan| (plan.name.clone(), plan.words())).collect();
    view! {
        <form method="post" action="/ops/partners/new" class="narrow">
            <Field name="slug" label="Slug" autocomplete="off" autofocus=true value=typed.get("slug")
                hint="Stands in commands and addresses: lower-case letters, digits, - and _.".to_owned()/>
            <Field name="name" label="Name" autocomplete="off" value=typed.get("name") required=false
                hint="What people call it; without one, the slug.".to_owned()/>
            <Choice name="plan" label="Plan" options=plans chosen=typed.get("plan")/>
            <Problem text=problem/>
            <p class="acts">
                <button>"Create partner"</button>
                <a class="btn quiet" href="/ops/partners">"Cancel"</a>
            </p>
        </form>
    }
    .into_any()
}
