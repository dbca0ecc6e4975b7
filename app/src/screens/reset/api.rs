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
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let person = crate::people::reset(&site.db, &token, &password).await?;
        crate::session::enter(&site, person, "").await
    })
    .await
}
