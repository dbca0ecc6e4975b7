//! `/portal/people`: colleagues, a link for one more, and letting one go.

pub mod api;

use leptos::prelude::*;

use self::api::{HERE, colleagues, invite_colleague, remove_colleague, withdraw_invitation};
use crate::error::Error;
use crate::people::{OneTimeLink, Team};
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::field::Problem;
use crate::widgets::headline::Said;
use crate::widgets::team::{Deeds, HandedOut, InviteForm, Members};

struct Shown {
    team: Team,
    link: Option<OneTimeLink>,
    draft: Draft,
}

#[component]
pub fn People() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("People", HERE).asks("Who sees this traffic?").still().show(fetch, |shown, viewer| {
        let me = viewer.email.clone();
        view! { <Page shown=shown me=me/> }.into_any()
    })
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    let (link, draft) = match posted {
        None => (None, Draft::default()),
        Some(form) => {
            let done = act(&form).await;
            match form.judge(done)? {
                Ok(link) => (link, Draft::default()),
                Err(draft) => (None, draft),
            }
        }
    };
    Ok(Shown { team: colleagues().await?, link, draft })
}

/// All but links lead back to the page, so that nothing is done twice.
async fn act(form: &Posted) -> Result<Option<OneTimeLink>, Error> {
    let email = form.get("email");
    match form.get("act").as_str() {
        "remove" => remove_colleague(email).await.map(|()| None),
        "withdraw" => withdraw_invitation(email).await.map(|()| None),
        _ => invite_colleague(email).await.map(Some),
    }
}

#[component]
fn Page(shown: Shown, me: String) -> impl IntoView {
    let Shown { team, link, draft } = shown;
    let said = match team.people.len() {
        1 => "You alone see this traffic and these keys.".to_owned(),
        n => format!("{n} people see this traffic and these keys."),
    };
    let keys = "Keys go on: revoke or rotate those that they should not know.";
    let deeds = Deeds { here: HERE.to_owned(), me, resets: false, keys };
    let (to_members, to_form) = draft.apart("invite");
    view! {
        <Said text=said/>
        {link.map(|link| view! { <HandedOut link=link/> })}
        <Problem text=to_members/>
        <section aria-labelledby="people-title">
            <h2 id="people-title">"Colleagues"</h2>
            <Members team=team deeds=deeds/>
        </section>
        <section aria-labelledby="invite-title" class="narrow">
            <h2 id="invite-title">"Invite a colleague"</h2>
            <InviteForm here=HERE.to_owned() email=to_form.typed.get("email") problem=to_form.problem/>
        </section>
    }
}
