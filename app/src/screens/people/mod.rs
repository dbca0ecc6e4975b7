//! `/portal/people`: colleagues, and a link for one more.

pub mod api;

use leptos::prelude::*;

use self::api::{Colleague, InvitationLink, Team, colleagues, invite_colleague};
use crate::domain::moment::{date, until};
use crate::error::Error;
use crate::islands::secret::Secret;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::field::{Field, Problem};
use crate::widgets::headline::Said;
use crate::widgets::table::Table;

struct Shown {
    colleagues: Team,
    made: Option<InvitationLink>,
    draft: Draft,
}

#[component]
pub fn People() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("People", "/portal/people")
        .asks("Who sees this traffic?")
        .still()
        .show(fetch, |shown, _| view! { <Page shown=shown/> }.into_any())
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let (made, draft) = match posted {
        None => (None, Draft::default()),
        Some(form) => {
            let done = invite_colleague(form.get("email")).await;
            match form.judge(done)? {
                Ok(made) => (Some(made), Draft::default()),
                Err(draft) => (None, draft),
            }
        }
    };
    Ok(Shown { colleagues: colleagues().await?, made, draft })
}

#[component]
fn Page(shown: Shown) -> impl IntoView {
    let Shown { colleagues: Team { people, invited, now }, made, draft: Draft { typed, problem } } = shown;
    let said = match people.len() {
        1 => "You alone see this traffic and these keys.".to_owned(),
        n => format!("{n} people see this traffic and these keys."),
    };
    let person = |Colleague { email, at }: Colleague| {
        view! { <tr><th scope="row">{email}</th><td>{format!("since {}", date(at))}</td></tr> }.into_any()
    };
    let guest = |Colleague { email, at }: Colleague| {
        view! { <tr><th scope="row">{email}</th><td><span class="tag">{format!("invited, link ends {}", until(at, now))}</span></td></tr> }.into_any()
    };
    let rows: Vec<_> = people.into_iter().map(person).chain(invited.into_iter().map(guest)).collect();
    view! {
        <Said text=said/>
        {made.map(|made| view! { <Link made=made/> })}
        <section aria-labelledby="people-title">
            <h2 id="people-title">"Colleagues"</h2>
            <Table class="people" columns=vec![("", "E-mail"), ("", "Account")] rows=rows/>
        </section>
        <section aria-labelledby="invite-title" class="narrow">
            <h2 id="invite-title">"Invite a colleague"</h2>
            <form method="post" action="/portal/people">
                <Field name="email" label="E-mail" kind="email" autocomplete="off" value=typed.get("email")
                    hint="You get a link to hand on. It works once, within 72 hours.".to_owned()/>
                <Problem text=problem/>
                <button>"Make a link"</button>
            </form>
        </section>
    }
}

#[component]
fn Link(made: InvitationLink) -> impl IntoView {
    let InvitationLink { email, link } = made;
    view! {
        <section class="sheet" aria-labelledby="link-title">
            <h2 id="link-title">{format!("A link for {email}")}</h2>
            <p class="soft">"This is the only time that it is shown. It works once, within 72 hours; whoever holds it sets the password."</p>
            <Secret text=link name="link".to_owned() before=String::new() after=String::new()/>
        </section>
    }
}
