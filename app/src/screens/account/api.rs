//! One's own account: where one is signed in, and another password.

use leptos::prelude::*;

use crate::error::Error;

/// In how many browsers whoever asks is signed in, this one included.
#[server(endpoint = "my_browsers")]
pub async fn my_browsers() -> Result<i64, Error> {
    crate::error::answer(async {
        crate::session::require_anybody().await?;
        crate::session::browsers().await
    })
    .await
}

/// Sets another password for whoever knows the current one, signs out everywhere and in here anew.
#[server(endpoint = "change_password")]
pub async fn change_password(current: String, password: String) -> Result<(), Error> {
    use crate::{people, session};

    crate::error::answer(async {
        let viewer = session::require_anybody().await?;
        let site = crate::site::Site::current()?;
        let (address, device) = (session::client_address(), session::device(&site));
        let device = device.as_deref();
        let person =
            people::change_password(&site.db, &viewer.email, &current, &password, &address, device).await?;
        session::enter(&site, person, super::CHANGED).await
    })
    .await
}
