//! What is behind an invitation's link, and using it.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// What the page says before the link is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invited {
    /// Absent for the first operator, who names it.
    pub email: Option<String>,
    /// The partner's name; absent for operators.
    pub partner: Option<String>,
}

/// Asks nobody's leave: whoever holds the link may see for whom it is. `None` when it is over or never was.
#[server(endpoint = "invitation")]
pub async fn invitation(token: String) -> Result<Option<Invited>, Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let found = crate::people::find_invitation(&site.db, &token).await?;
        Ok(found.map(|invitation| Invited { email: invitation.email, partner: invitation.partner }))
    })
    .await
}

/// Makes the account, signs in, and leads to where this person starts.
#[server(endpoint = "accept_invitation")]
pub async fn accept_invitation(token: String, email: String, password: String) -> Result<(), Error> {
    use crate::people::{self, AcceptError, PasswordError};
    use crate::session;

    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let person = people::accept(&site.db, &token, &email, &password).await;
        let person = person.map_err(|error| match error {
            AcceptError::Database(cause) => cause.into(),
            AcceptError::Password(PasswordError::Hashing(_)) => Error::internal(error),
            told => Error::Invalid(told.to_string()),
        })?;
        let viewer = session::begin(&site, person).await?;
        leptos_axum::redirect(viewer.home());
        Ok(())
    })
    .await
}
