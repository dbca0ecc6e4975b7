//! The reveal: a key's text, shown once.

use leptos::prelude::*;

use super::api::Made;
use crate::domain::moment::{date, until};
use crate::domain::quota::terms;
use crate::error::Error;
use crate::islands::secret::Secret;
use crate::keys::MadeKey;
use crate::site::Site;

/// What is told beside the text of a new key.
pub async fn made(site: &Site, partner: i64, made: MadeKey, former: Option<i64>) -> Result<Made, Error> {
    let access = crate::access::access(&site.db, partner).await?.ok_or(Error::NotFound)?;
    let former_until = match former {
        Some(id) => crate::keys::list(&site.db, Some(partner))
            .await?
            .into_iter()
            .find(|key| key.id == id)
            .and_then(|key| key.revoked_at),
        None => None,
    };
    // One that this key may call.
    let path = access.example_path(made.key.routes.as_deref()).to_owned();
    Ok(Made {
        key: made.key,
        text: made.text,
        former_until,
        gateway: site.gateway(),
        path,
        terms: terms(access.capacity, access.refill_per_second),
    })
}

#[component]
pub fn Reveal(made: Made) -> impl IntoView {
    let Made { key, text, former_until, gateway, path, terms } = made;
    let title = match former_until {
        Some(_) => format!("The successor of {} is ready", key.name),
        None => format!("{} is ready", key.name),
    };
    let ends = match key.expires_at {
        Some(at) => format!("Expires on {}.", date(at)),
        None => "It lasts until it is revoked.".to_owned(),
    };
    let former = former_until.map(|at| match at > key.created_at {
        true => format!("The former key is honoured beside it and ends {}. ", until(at, key.created_at)),
        false => "The former key has ended. ".to_owned(),
    });
    let (before, after) = ("curl -i -H 'X-Api-Key: ".to_owned(), format!("' '{gateway}{path}'"));
    view! {
        <h2 id="sheet-title">{title}</h2>
        <p class="soft">"This is the only time that the whole key is shown. Copy it to where your program reads it."</p>
        <Secret text=text name="key".to_owned() before=before after=after/>
        <p class="hint">{former}{ends}" It draws from your bucket: "{terms}"."</p>
        <p class="acts"><a class="btn quiet" href="/portal/keys" data-close="">"Done"</a></p>
    }
}
