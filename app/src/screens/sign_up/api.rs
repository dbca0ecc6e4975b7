//! Signing up by oneself, where a plan allows it.

use leptos::prelude::*;

use crate::error::Error;
use crate::people::OpenPlan;

/// The plans that anyone may take; none: there is no signing up. Asks nobody's leave.
#[server(endpoint = "sign_up_plans")]
pub async fn sign_up_plans() -> Result<Vec<OpenPlan>, Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        Ok(crate::people::open_plans(&site.db).await?)
    })
    .await
}

/// Makes a partner and its first person. Answers alike whether the address had an account already or not, so nobody is
/// signed in by it: whoever owns the account signs in next.
#[server(endpoint = "sign_up")]
pub async fn sign_up(plan: String, name: String, email: String, password: String) -> Result<(), Error> {
    use crate::people::{self, PasswordError, SignUpError};
    use crate::session;

    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let form = people::SignUp { plan: &plan, name: &name, email: &email, password: &password };
        people::sign_up(&site.db, form, &session::client_address()).await.map_err(|error| match error {
            SignUpError::TooMany { minutes } => Error::TooManyAttempts { minutes },
            SignUpError::Database(cause) => cause.into(),
            SignUpError::Password(PasswordError::Hashing(_)) => Error::internal(error),
            told => Error::Invalid(told.to_string()),
        })
    })
    .await
}
