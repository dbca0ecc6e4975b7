//! The log of the partner whose person asks.

use leptos::prelude::*;

use crate::error::Error;
use crate::requests::{Asked, Choices, Page};

/// A page of the partner's requests, whatever partner `asked` names; `span` as `domain::span` writes it.
#[server(endpoint = "partner_requests")]
pub async fn partner_requests(
    span: String,
    #[server(default)] asked: Asked,
) -> Result<(Page, Choices), Error> {
    crate::error::answer(async {
        let partner = crate::session::require_partner().await?;
        crate::requests::shown(&span, &asked, Some(partner)).await
    })
    .await
}
