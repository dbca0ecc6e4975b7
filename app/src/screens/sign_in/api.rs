//! Signing in.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ways {
    /// There is a plan that anyone may take.
    pub sign_up: bool,
    /// Nobody has an account yet.
    pub is_deserted: bool,
}

/// Begins a session and leads to `next`, if that is a page of this portal, else to where this person starts.
#[server(endpoint = "sign_in")]
pub async fn sign_in(email: String, password: String, next: String) -> Result<(), Error> {
    use crate::{people, session};

    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let (address, device) = (session::client_address(), session::device(&site));
        let person = people::sign_in(&site.db, &email, &password, &address, device.as_deref()).await?;
        session::enter(&site, person, &next).await
    })
    .await
}

/// How one comes by an account. Asks nobody's leave.
#[server(endpoint = "ways_in")]
pub async fn ways_in() -> Result<Ways, Error> {
    use crate::people;

    crate::error::answer(async {
        let db = crate::site::Site::current()?.db;
        Ok(Ways {
            sign_up: !people::open_plans(&db).await?.is_empty(),
            is_deserted: people::is_deserted(&db).await?,
        })
    })
    .await
}
