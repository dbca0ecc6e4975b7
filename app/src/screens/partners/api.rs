//! All partners, one of them, and what an operator does about them.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::changes::By;
use crate::domain::api_key::ApiKey;
use crate::domain::funnel::Funnel;
use crate::domain::quota::Quota;
use crate::domain::verdict::Verdict;
use crate::domain::window::Window;
use crate::error::Error;
use crate::keys::Allowance;
use crate::manifest::Kind;
use crate::manifest::edit::{edit, table};
use crate::partners::{self, PAGE, Page, Partner, Plan};
use crate::people::{self, InviteAs, Team};
use crate::screens::traffic::Traffic;
use crate::session::require_ops;
use crate::site::Site;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    pub window: Window,
    pub page: Page,
}

/// Everything about one partner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Details {
    pub partner: Partner,
    /// Most important first, and who must act.
    pub verdicts: Vec<Verdict>,
    pub traffic: Traffic,
    /// A funnel a route, busiest first.
    pub routes: Vec<(String, Funnel)>,
    pub quota: Option<Quota>,
    pub team: Team,
    pub keys: Vec<ApiKey>,
    pub allowance: Allowance,
    pub plans: Vec<Plan>,
    #[serde(with = "time::serde::rfc3339")]
    pub now: OffsetDateTime,
}

/// A page of the partners; `search` is a part of a slug or name, `span` as `domain::span` writes it.
#[server(endpoint = "ops_partners")]
pub async fn ops_partners(
    span: String,
    #[server(default)] search: String,
    #[server(default)] page: i64,
) -> Result<List, Error> {
    crate::error::answer(async {
        require_ops().await?;
        let site = Site::current()?;
        let window = site.window(&span).await?;
        Ok(List { window, page: partners::list(&site.db, window, &search, page, PAGE).await? })
    })
    .await
}

#[server(endpoint = "ops_partner")]
pub async fn ops_partner(span: String, slug: String) -> Result<Details, Error> {
    use crate::books::quota_now;
    use crate::domain::span::Span;
    use crate::domain::verdict::{Who, about};
    use crate::domain::window::WindowError;
    use crate::keys;
    use crate::screens::traffic;

    crate::error::answer(async {
        require_ops().await?;
        let site = Site::current()?;
        let span: Span = span.parse().map_err(|error: WindowError| Error::Invalid(error.to_string()))?;
        let now = site.now().await?;
        let (window, db) = (span.window(now), &site.db);
        let partner = partners::find(db, &slug).await?.ok_or(Error::NotFound)?;
        let id = partner.id;
        let ((traffic, reading), quota, team, keys, allowance, plans) = tokio::try_join!(
            traffic::read(&site, span, window, Who::Partner(id)),
            quota_now(db, id),
            people::team(db, InviteAs::Partner(id)),
            keys::list(db, Some(id)),
            keys::allowance(db, id),
            partners::plans(db),
        )?;
        let allowance = allowance.ok_or(Error::NotFound)?;
        let routes = reading.by_route();
        let verdicts = about(reading.evidence, &slug);
        Ok(Details { partner, verdicts, traffic, routes, quota, team, keys, allowance, plans, now })
    })
    .await
}

/// The plans to choose from.
#[server(endpoint = "ops_plans")]
pub async fn ops_plans() -> Result<Vec<Plan>, Error> {
    crate::error::answer(async {
        require_ops().await?;
        Ok(partners::plans(&Site::current()?.db).await?)
    })
    .await
}

/// By the rules of `toll apply`; leads to the partner's page.
#[server(endpoint = "create_partner")]
pub async fn create_partner(slug: String, name: String, plan: String) -> Result<(), Error> {
    crate::error::answer(async {
        let viewer = require_ops().await?;
        let site = Site::current()?;
        edit(&site.db, By(&viewer.email), Kind::Partner, |manifest| {
            if manifest.partners.contains_key(&slug) {
                return Err(format!("there is a partner {slug:?} already"));
            }
            let mut table = toml::Table::from_iter([("slug".to_owned(), slug.clone().into())]);
            table.insert("plan".into(), plan.into());
            if !name.trim().is_empty() {
                table.insert("name".into(), name.trim().into());
            }
            Ok(table)
        })
        .await?;
        leptos_axum::redirect(&format!("/ops/partners/{slug}"));
        Ok(())
    })
    .await
}

/// Its bucket stays as full as it is, up to what the new plan holds.
#[server(endpoint = "change_plan")]
pub async fn change_plan(slug: String, plan: String) -> Result<(), Error> {
    crate::error::answer(change(slug, "plan", plan.into())).await
}

/// A suspended partner's keys are refused on every node within a second; nothing else about it changes.
#[server(endpoint = "suspend_partner")]
pub async fn suspend_partner(slug: String, suspended: bool) -> Result<(), Error> {
    crate::error::answer(change(slug, "suspended", suspended.into())).await
}

async fn change(slug: String, field: &str, value: toml::Value) -> Result<(), Error> {
    let viewer = require_ops().await?;
    let site = Site::current()?;
    edit(&site.db, By(&viewer.email), Kind::Partner, |manifest| {
        let mut table =
            table(manifest, Kind::Partner, &slug).ok_or_else(|| format!("there is no partner {slug:?}"))?;
        table.insert(field.to_owned(), value);
        Ok(table)
    })
    .await?;
    leptos_axum::redirect(&format!("/ops/partners/{slug}"));
    Ok(())
}

/// Ends a key of the partner on every node.
#[server(endpoint = "ops_revoke_key")]
pub async fn ops_revoke_key(slug: String, key: i64) -> Result<(), Error> {
    crate::error::answer(async {
        let viewer = require_ops().await?;
        let site = Site::current()?;
        let partner = partners::find(&site.db, &slug).await?.ok_or(Error::NotFound)?;
        crate::keys::revoke(&site.db, By(&viewer.email), Some(partner.id), key).await?;
        leptos_axum::redirect(&format!("/ops/partners/{slug}"));
        Ok(())
    })
    .await
}
