//! The log of everything.

use leptos::prelude::*;

use crate::error::Error;
use crate::requests::{Asked, Choices, Page};

/// A page of all requests, and what can be asked for; `span` as `domain::span` writes it.
#[server(endpoint = "ops_requests")]
pub async fn ops_requests(span: String, #[server(default)] asked: Asked) -> Result<(Page, Choices), Error> {
    crate::error::answer(async {
        crate::session::require_ops().await?;
        crate::requests::shown(&span, &asked, None).await
    })
    .await
}
