//! What is behind an invitation's link, and using it.

use leptos::prelude::*;

use crate::error::Error;
use crate::people;

/// Asks nobody's leave: whoever holds the link may see for whom it is. `None` when it is over or never was.
#[server(endpoint = "invitation")]
pub async fn invitation(token: String) -> Result<Option<people::Invitation>, Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        Ok(people::find_invitation(&site.db, &token).await?)
    })
    .await
}

/// Makes the account, signs in, and leads to where this person starts.
#[server(endpoint = "accept_invitation")]
pub async fn accept_invitation(token: String, email: String, password: String) -> Result<(), Error> {
    crate::error::answer(async {
        let site = crate::site::Site::current()?;
        let person = people::accept(&site.db, &token, &email, &password).await?;
        crate::session::enter(&site, person, "").await
    })
    .await
}
