//! The books of everything.

use leptos::prelude::*;

use crate::error::Error;
use crate::screens::traffic::Traffic;

/// The funnel of all traffic; `span` as `domain::span` writes it.
#[server(endpoint = "ops_traffic")]
pub async fn ops_traffic(span: String) -> Result<Traffic, Error> {
    crate::error::answer(async {
        crate::session::require_ops().await?;
        crate::screens::traffic::read(&span, None).await
    })
    .await
}
