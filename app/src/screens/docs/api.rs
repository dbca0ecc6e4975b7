//! What a partner's developer needs to call.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::error::Error;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manual {
    pub access: Access,
    /// The base URL of every call.
    pub gateway: String,
}

/// For the partner in the session.
#[server(endpoint = "partner_manual")]
pub async fn partner_manual() -> Result<Manual, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        let site = crate::site::Site::current()?;
        let access = crate::access::access(&site.db, partner).await?.ok_or(Error::NotFound)?;
        Ok(Manual { access, gateway: site.gateway() })
    })
    .await
}
