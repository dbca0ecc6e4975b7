//! `/ops/people`: the operators, a link for one more, and letting one go.

use leptos::prelude::*;

use crate::error::Error;
use crate::posted::Posted;
use crate::screens::screen::Screen;
use crate::screens::team::{act, ops_people};
use crate::widgets::headline::Said;
use crate::widgets::team::{Asked, Deeds, TeamPage};

const HERE: &str = "/ops/people";

#[component]
pub fn Operators() -> impl IntoView {
    let posted = Posted::current();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("People", HERE).asks("Who runs this gateway?").still().show(fetch, |asked, viewer| {
        let me = viewer.email.clone();
        view! { <Page asked=asked me=me/> }.into_any()
    })
}

async fn shown(posted: Option<Posted>) -> Result<Asked, Error> {
    let (link, draft) = match posted {
        None => Default::default(),
        Some(form) => {
            let done = act(&form, None).await;
            form.outcome(done)?
        }
    };
    Ok(Asked { team: ops_people().await?, link, draft })
}

#[component]
fn Page(asked: Asked, me: String) -> impl IntoView {
    let said = match asked.team.people.len() {
        1 => "You alone run this gateway.".to_owned(),
        n => format!("{n} people run this gateway: each of them sees and may change everything."),
    };
    let deeds = Deeds { here: HERE.to_owned(), me, resets: true, keys: "" };
    view! {
        <Said text=said/>
        <TeamPage asked=asked deeds=deeds title="Operators" invite="Invite an operator">
            <p class="hint below">"Who signs in for a partner is on the partner’s page, under "<a href="/ops/partners">"Partners"</a>"."</p>
        </TeamPage>
    }
}
