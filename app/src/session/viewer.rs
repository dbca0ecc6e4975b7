//! Server functions that every screen needs: who is signed in, and signing out.

use leptos::prelude::*;

use crate::error::Error;
use crate::session::Viewer;

/// Who is asking; nobody is an answer too.
#[server(endpoint = "who")]
pub async fn who() -> Result<Option<Viewer>, Error> {
    crate::error::answer(crate::session::viewer()).await
}

/// Ends the session, or all of this person's, and leads to the sign-in.
#[server(endpoint = "sign_out")]
pub async fn sign_out(everywhere: bool) -> Result<(), Error> {
    crate::error::answer(async {
        crate::session::end(everywhere).await?;
        leptos_axum::redirect("/");
        Ok(())
    })
    .await
}
