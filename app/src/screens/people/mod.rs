//! `/portal/people`: colleagues, a link for one more, and letting one go.

pub mod api;

use leptos::prelude::*;

use self::api::{HERE, colleagues, invite_colleague, remove_colleague, withdraw_invitation};
use crate::error::Error;
use crate::people::OneTimeLink;
use crate::posted::Posted;
use crate::screens::screen::Screen;
use crate::widgets::headline::Said;
use crate::widgets::team::{Asked, Deeds, TeamPage};

#[component]
pub fn People() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("People", HERE).asks("Who sees this traffic?").still().show(fetch, |asked, viewer| {
        let me = viewer.email.clone();
        view! { <Page asked=asked me=me/> }.into_any()
    })
}

async fn shown(posted: Option<Posted>) -> Result<Asked, Error> {
    let (link, draft) = match posted {
        None => Default::default(),
        Some(form) => {
            let done = act(&form).await;
            form.outcome(done)?
        }
    };
    Ok(Asked { team: colleagues().await?, link, draft })
}

/// All but links lead back to the page, so that nothing is done twice.
async fn act(form: &Posted) -> Result<Option<OneTimeLink>, Error> {
    let email = form.get("email");
    match form.get("act").as_str() {
        "remove" => remove_colleague(email).await.map(|()| None),
        "withdraw" => withdraw_invitation(email).await.map(|()| None),
        "invite" => invite_colleague(email).await.map(Some),
        _ => Err(Error::incomplete()),
    }
}

#[component]
fn Page(asked: Asked, me: String) -> impl IntoView {
    let said = match asked.team.people.len() {
        1 => "You alone see this traffic and these keys.".to_owned(),
        n => format!("{n} people see this traffic and these keys."),
    };
    let keys = "Keys go on: revoke or rotate those that they should not know.";
    let deeds = Deeds { here: HERE.to_owned(), me, resets: false, keys };
    view! {
        <Said text=said/>
        <TeamPage asked=asked deeds=deeds title="Colleagues" invite="Invite a colleague"/>
    }
}
