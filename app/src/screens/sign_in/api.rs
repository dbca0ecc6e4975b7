//! Signing in.

use leptos::prelude::*;

use crate::error::Error;

/// Begins a session and leads to `next`, if that is a page of this portal, else to where this person starts.
#[server(endpoint = "sign_in")]
pub async fn sign_in(email: String, password: String, next: String) -> Result<(), Error> {
    use crate::people::{self, SignInError};
    use crate::session;

    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let person = people::sign_in(
            &site.db,
            &email,
            &password,
            &session::client_address(),
            session::device(&site).as_deref(),
        )
        .await;
        let person = person.map_err(|error| match error {
            SignInError::Wrong => Error::Invalid(error.to_string()),
            SignInError::TooMany { minutes } => Error::TooManyAttempts { minutes },
            SignInError::Database(cause) => cause.into(),
            SignInError::Password(_) => Error::internal(error),
        })?;
        let viewer = session::begin(&site, person).await?;
        leptos_axum::redirect(session::safe_path(&next).unwrap_or(viewer.home()));
        Ok(())
    })
    .await
}

/// Whether there is a plan that anyone may take. Asks nobody's leave.
#[server(endpoint = "may_sign_up")]
pub async fn may_sign_up() -> Result<bool, Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        Ok(!crate::people::open_plans(&site.db).await?.is_empty())
    })
    .await
}
