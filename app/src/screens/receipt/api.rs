//! One request's receipt.

use leptos::prelude::*;

use crate::error::Error;
use crate::receipt::Found;

/// By the `X-Toll-Id` of its answer. Operators see all; a partner its own, and for others what it sees for one that
/// never was.
#[server(endpoint = "receipt")]
pub async fn receipt(id: String) -> Result<Found, Error> {
    use crate::session::Role;

    crate::error::answer(async {
        let viewer = crate::session::require_anybody().await?;
        let site = crate::site::Site::current()?;
        let id = uuid::Uuid::try_parse(&id).map_err(|_| Error::NotFound)?;
        let partner = match viewer.role {
            Role::Ops => None,
            Role::Partner { id, .. } => Some(id),
        };
        let mut found = crate::receipt::find(&site.db, id, partner).await?.ok_or(Error::NotFound)?;
        // Where the upstreams are is the operators' business.
        if let (Found::Receipt(receipt), Some(_)) = (&mut found, partner) {
            receipt.target.clear();
        }
        Ok(found)
    })
    .await
}
