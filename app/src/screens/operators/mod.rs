//! `/ops/people`: the operators, a link for one more, and letting one go.

use leptos::prelude::*;

use crate::error::Error;
use crate::people::{OneTimeLink, Team};
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::screens::team::{act, ops_people};
use crate::widgets::field::Problem;
use crate::widgets::headline::Said;
use crate::widgets::team::{Deeds, HandedOut, InviteForm, Members};

const HERE: &str = "/ops/people";

struct Shown {
    team: Team,
    link: Option<OneTimeLink>,
    draft: Draft,
}

#[component]
pub fn Operators() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("People", HERE).asks("Who runs this gateway?").still().show(fetch, |shown, viewer| {
        let me = viewer.email.clone();
        view! { <Page shown=shown me=me/> }.into_any()
    })
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let (link, draft) = match posted {
        None => (None, Draft::default()),
        Some(form) => {
            let done = act(&form, None).await;
            match form.judge(done)? {
                Ok(link) => (link, Draft::default()),
                Err(draft) => (None, draft),
            }
        }
    };
    Ok(Shown { team: ops_people().await?, link, draft })
}

#[component]
fn Page(shown: Shown, me: String) -> impl IntoView {
    let Shown { team, link, draft } = shown;
    let said = match team.people.len() {
        1 => "You alone run this gateway.".to_owned(),
        n => format!("{n} people run this gateway: each of them sees and may change everything."),
    };
    let deeds = Deeds { here: HERE.to_owned(), me, resets: true, keys: "" };
    let (to_members, to_form) = draft.apart("invite");
    view! {
        <Said text=said/>
        {link.map(|link| view! { <HandedOut link=link/> })}
        <Problem text=to_members/>
        <section aria-labelledby="people-title">
            <h2 id="people-title">"Operators"</h2>
            <Members team=team deeds=deeds/>
            <p class="hint below">"Who signs in for a partner is on the partner's page, under "<a href="/ops/partners">"Partners"</a>"."</p>
        </section>
        <section aria-labelledby="invite-title" class="narrow">
            <h2 id="invite-title">"Invite an operator"</h2>
            <InviteForm here=HERE.to_owned() email=to_form.typed.get("email") problem=to_form.problem/>
        </section>
    }
}
