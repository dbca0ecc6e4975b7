//! `/portal/people`: colleagues, and a link for one more.

pub mod api;

use leptos::prelude::*;

use self::api::{Colleague, InvitationLink, Team, colleagues, invite_colleague};
use crate::domain::moment::{date, until};
use crate::error::Error;
use crate::islands::secret::Secret;
use crate::posted::Posted;
use crate::screens::screen::Screen;
use crate::widgets::field::{Field, Problem};

struct Shown {
    colleagues: Team,
    /// What came of the form.
    answer: Option<Result<InvitationLink, String>>,
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
    let answer = match posted {
        None => None,
        Some(form) => match invite_colleague(form.get("email")).await {
            Ok(made) => Some(Ok(made)),
            Err(Error::Invalid(problem)) => Some(Err(problem)),
            Err(error) => return Err(error),
        },
    };
    Ok(Shown { colleagues: colleagues().await?, answer })
}

#[component]
fn Page(shown: Shown) -> impl IntoView {
    let Shown { colleagues: Team { people, invited, now }, answer } = shown;
    let said = match people.len() {
        1 => "You alone see this traffic and these keys.".to_owned(),
        n => format!("{n} people see this traffic and these keys."),
    };
    let (made, problem) = match answer {
        Some(Ok(made)) => (Some(made), None),
        Some(Err(problem)) => (None, Some(problem)),
        None => (None, None),
    };
    let person = |Colleague { email, at }: Colleague| {
        view! { <tr><th scope="row">{email}</th><td>{format!("since {}", date(at))}</td></tr> }
    };
    let guest = |Colleague { email, at }: Colleague| {
        view! { <tr><th scope="row">{email}</th><td><span class="tag">{format!("invited, link ends {}", until(at, now))}</span></td></tr> }
    };
    view! {
        <p class="verdict">{said}</p>
        {made.map(|made| view! { <Link made=made/> })}
        <section aria-labelledby="people-title">
            <h2 id="people-title">"Colleagues"</h2>
            <table class="list people">
                <thead><tr><th scope="col">"E-mail"</th><th scope="col">"Account"</th></tr></thead>
                <tbody>
                    {people.into_iter().map(person).collect_view()}
                    {invited.into_iter().map(guest).collect_view()}
                </tbody>
            </table>
        </section>
        <section aria-labelledby="invite-title" class="narrow">
            <h2 id="invite-title">"Invite a colleague"</h2>
            <form method="post" action="/portal/people">
                <Field name="email" label="E-mail" kind="email" autocomplete="off"
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
