//! `/portal/keys/<id>/rename`, `rotate`, `revoke`: a small form each. Rotation answers with the successor.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use super::api::{Made, partner_key, rename_key, revoke_key, rotate_key};
use super::made::Reveal;
use crate::domain::api_key::ApiKey;
use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::Screen;
use crate::widgets::field::Problem;

/// For how long the former key is honoured: seconds, and words.
const OVERLAPS: [(u32, &str); 4] =
    [(0, "ends now"), (900, "15 minutes"), (3_600, "1 hour"), (86_400, "24 hours")];
const SET: u32 = 3_600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Rename,
    Rotate,
    Revoke,
}

enum Shown {
    Form(Act, ApiKey, Draft),
    Made(Made),
    /// Back to the list.
    Done,
}

#[component]
pub fn ChangeKey() -> impl IntoView {
    let posted = Posted::current();
    let parameters = use_params_map().get_untracked();
    let fetch = async move {
        let id = parameters.get("id").and_then(|id| id.parse().ok()).ok_or(Error::NotFound)?;
        let act = match parameters.get("act").as_deref() {
            Some("rename") => Act::Rename,
            Some("rotate") => Act::Rotate,
            Some("revoke") => Act::Revoke,
            _ => return Err(Error::NotFound),
        };
        Ok((None, shown(act, id, posted).await?))
    };
    Screen::new("Change a key", "/portal/keys").still().show(fetch, |shown, _| {
        let inside = match shown {
            Shown::Made(made) => view! { <Reveal made=made/> }.into_any(),
            Shown::Form(act, key, draft) => view! { <Form act=act key_=key draft=draft/> }.into_any(),
            Shown::Done => {
                leptos_axum::redirect("/portal/keys");
                return ().into_any();
            }
        };
        view! { <section class="sheet" aria-labelledby="sheet-title">{inside}</section> }.into_any()
    })
}

async fn shown(act: Act, id: i64, posted: Option<Posted>) -> Result<Shown, Error> {
    let Some(form) = posted else {
        return Ok(Shown::Form(act, partner_key(id).await?, Draft::default()));
    };
    let done = match act {
        Act::Rename => rename_key(id, form.get("name")).await.map(|()| Shown::Done),
        Act::Revoke => revoke_key(id).await.map(|()| Shown::Done),
        Act::Rotate => match form.number("overlap", i64::from(SET)) {
            Ok(overlap) => rotate_key(id, overlap).await.map(Shown::Made),
            Err(error) => Err(error),
        },
    };
    match form.judge(done)? {
        Ok(shown) => Ok(shown),
        Err(draft) => Ok(Shown::Form(act, partner_key(id).await?, draft)),
    }
}

#[component]
fn Form(act: Act, key_: ApiKey, draft: Draft) -> impl IntoView {
    let ApiKey { id, name, start, .. } = key_;
    let whole = format!("{name} ({start}…)");
    let (title, lead, verb) = match act {
        Act::Rename => {
            (format!("Rename {name}"), format!("The key {start}… itself stays as it is."), "Rename")
        }
        Act::Rotate => (
            format!("Rotate {name}"),
            format!(
                "Makes a successor of {whole}, with the same name and routes. For how long is the former one honoured beside it?"
            ),
            "Rotate",
        ),
        Act::Revoke => (
            format!("Revoke {name}?"),
            format!(
                "Programs that call with {whole} are refused from now on, on every node. That cannot be undone."
            ),
            "Revoke",
        ),
    };
    let Draft { typed, problem } = draft;
    let set = typed.get("overlap").parse().unwrap_or(SET);
    let name = if problem.is_some() { typed.get("name") } else { name };
    let fields = match act {
        Act::Rename => view! {
            <div class="field">
                <label for="name">"Name"</label>
                <input id="name" name="name" value=name required=true maxlength="100" autocomplete="off" autofocus=true/>
            </div>
        }
        .into_any(),
        Act::Rotate => {
            let overlaps = OVERLAPS.map(|(seconds, words)| {
                view! {
                    <label class="choice">
                        <input type="radio" name="overlap" value=seconds.to_string() checked=seconds == set autofocus=seconds == set/>{words}
                    </label>
                }
            });
            view! {
                <fieldset class="field"><legend>"Overlap"</legend><div class="choices">{overlaps}</div></fieldset>
            }
            .into_any()
        }
        Act::Revoke => ().into_any(),
    };
    let action = format!("/portal/keys/{id}/{}", verb.to_lowercase());
    view! {
        <h2 id="sheet-title">{title}</h2>
        <p class="soft">{lead}</p>
        <form method="post" action=action>
            {fields}
            <Problem text=problem/>
            <p class="acts">
                <button class:danger=act == Act::Revoke>{verb}</button>
                <a class="btn quiet" href="/portal/keys" data-close="" autofocus=act == Act::Revoke>"Cancel"</a>
            </p>
        </form>
    }
}
