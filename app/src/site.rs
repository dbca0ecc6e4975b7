//! What the portal's server functions and pages need of the process they run in.

use std::path::Path;

use leptos::prelude::use_context;
use serde::Deserialize;
use sqlx::PgPool;

use crate::domain::span::Span;
use crate::domain::window::{Window, WindowError};
use crate::error::Error;

/// Handed to every page and server function as context.
#[derive(Clone, Debug)]
pub struct Site {
    pub db: PgPool,
    /// Where people reach Toll, without a slash at the end.
    pub public_url: String,
    pub assets: Assets,
}

/// Paths of the built files, whose names carry a hash of their content.
#[derive(Clone, Debug, Deserialize)]
pub struct Assets {
    #[serde(rename = "toll_js")]
    pub js: String,
    #[serde(rename = "toll_wasm")]
    pub wasm: String,
    #[serde(rename = "toll_css")]
    pub css: String,
    #[serde(rename = "echarts_js")]
    pub echarts: String,
}

impl Assets {
    /// Reads what the build wrote. Errors: the site was not built, or not whole.
    pub fn read(site_dir: &Path) -> std::io::Result<Assets> {
        let text = std::fs::read(site_dir.join("assets.json"))?;
        Ok(serde_json::from_slice(&text)?)
    }
}

impl Site {
    pub fn current() -> Result<Site, Error> {
        use_context().ok_or_else(|| Error::internal("no Site in the context"))
    }

    /// The database's clock, by which the books are kept.
    pub async fn now(&self) -> Result<time::OffsetDateTime, Error> {
        Ok(sqlx::query_scalar("select now()").fetch_one(&self.db).await?)
    }

    /// The window that a screen's `span` names now.
    pub async fn window(&self, span: &str) -> Result<Window, Error> {
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        Ok(span.window(self.now().await?))
    }

    /// Where requests come in.
    pub fn gateway(&self) -> String {
        format!("{}/api", self.public_url)
    }

    /// Cookies are for https only where people come by https.
    pub fn is_secure(&self) -> bool {
        self.public_url.starts_with("https://")
    }
}
