//! What is behind a reset link, and using it.

use leptos::prelude::*;

use crate::error::Error;

/// Whose password the link sets; `None` when it is over or never was. Whoever holds the link may see that.
#[server(endpoint = "password_reset")]
pub async fn password_reset(token: String) -> Result<Option<String>, Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        Ok(crate::people::find_reset(&site.db, &token).await?)
    })
    .await
}

/// Sets the password, signs out everywhere and in here, and leads to where this person starts.
#[server(endpoint = "reset_password")]
pub async fn reset_password(token: String, password: String) -> Result<(), Error> {
    use crate::people::{self, PasswordError, ResetError};
    use crate::session;

    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let person = people::reset(&site.db, &token, &password).await;
        let person = person.map_err(|error| match error {
            ResetError::Database(cause) => cause.into(),
            ResetError::Password(PasswordError::Hashing(_)) => Error::internal(error),
            told => Error::Invalid(told.to_string()),
        })?;
        let viewer = session::begin(&site, person).await?;
        leptos_axum::redirect(viewer.home());
        Ok(())
    })
    .await
}
