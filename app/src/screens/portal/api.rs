//! The books of the partner whose person asks.

use leptos::prelude::*;

use crate::error::Error;
use crate::screens::traffic::Traffic;

/// The funnel of the partner in the session; `span` as `domain::span` writes it.
#[server(endpoint = "partner_traffic")]
pub async fn partner_traffic(span: String) -> Result<Traffic, Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        crate::screens::traffic::read(&span, Some(partner)).await
    })
    .await
}
