//! `/account`: who one is, another password, and signing out everywhere.

pub mod api;

use leptos::prelude::*;

use self::api::{change_password, my_browsers};
use crate::domain::numbers::count;
use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::session::{Role, Viewer};
use crate::widgets::address::Address;
use crate::widgets::door::NewPassword;
use crate::widgets::field::{Field, Problem};
use crate::widgets::headline::Said;

/// Where a password that was changed leads.
const CHANGED: &str = "/account?changed=1";

struct Shown {
    browsers: i64,
    /// None: the answer leads on.
    draft: Option<Draft>,
}

#[component]
pub fn Account() -> impl IntoView {
    let posted = Posted::current();
    let is_changed = posted.is_none() && Address::current().get("changed").is_some();
    let fetch = async { Ok((None, shown(posted).await?)) };
    Screen::new("Account", "/account").asks("Who are you here?").still().show(fetch, move |shown, viewer| {
        let viewer = viewer.clone();
        match shown.draft {
            Some(draft) => {
                view! { <Page viewer=viewer browsers=shown.browsers draft=draft is_changed=is_changed/> }
                    .into_any()
            }
            None => ().into_any(),
        }
    })
}

async fn shown(posted: Option<Posted>) -> Result<Shown, Error> {
    // Before the form: the session that asks is over once the password is another.
    let browsers = my_browsers().await?;
    let draft = match posted {
        None => Some(Draft::default()),
        Some(form) => {
            let done = change_password(form.get("current"), form.get("password")).await;
            form.judge(done)?.err()
        }
    };
    Ok(Shown { browsers, draft })
}

#[component]
fn Page(viewer: Viewer, browsers: i64, draft: Draft, is_changed: bool) -> impl IntoView {
    let Viewer { email, role } = viewer;
    let said = match (is_changed, role) {
        (true, _) => "Your password is changed, and every other browser is signed out.".to_owned(),
        (false, Role::Ops) => format!("You are {email}, an operator: you see everything."),
        (false, Role::Partner { name, .. }) => format!("You are {email}, and see the traffic of {name}."),
    };
    let elsewhere = match browsers - 1 {
        ..=0 => "You are signed in here only.".to_owned(),
        others => format!("You are signed in here and in {}.", count(others.unsigned_abs(), "other browser")),
    };
    view! {
        <Said text=said/>
        <section aria-labelledby="password-title" class="narrow">
            <h2 id="password-title">"Password"</h2>
            <form method="post" action="/account">
                <input type="hidden" name="email" autocomplete="username" value=email/>
                <Field name="current" label="Current password" kind="password" autocomplete="current-password"/>
                <NewPassword label="New password"/>
                <Problem text=draft.problem/>
                <button>"Change password"</button>
                <p class="hint below">"Signs you out in every other browser. If the current one is lost, an operator can send you a link."</p>
            </form>
        </section>
        <section aria-labelledby="sessions-title" class="narrow">
            <h2 id="sessions-title">"Where you are signed in"</h2>
            <p>{elsewhere}</p>
            <form method="post" action="/_fn/sign_out" class="below">
                <button class="quiet" name="everywhere" value="true">"Sign out everywhere"</button>
            </form>
        </section>
    }
}
