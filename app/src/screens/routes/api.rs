//! Each route's books, and making, changing and switching routes.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::form::{LABELS, RouteForm};
use crate::changes::By;
use crate::domain::funnel::Funnel;
use crate::domain::window::Window;
use crate::error::Error;
use crate::manifest::edit::{edit, table};
use crate::manifest::{Kind, state};
use crate::session::require_ops;
use crate::site::Site;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Routes {
    pub window: Window,
    pub routes: Vec<RouteLine>,
    /// Requests that named no route.
    pub nowhere: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteLine {
    pub route: RouteForm,
    /// None: nobody called it.
    pub funnel: Option<Funnel>,
    /// Microseconds that its requests spent at the upstream.
    pub upstream_us: u64,
}

/// A route to change, or to begin with, and the upstreams that it may lead to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteOffer {
    pub route: RouteForm,
    pub upstreams: Vec<String>,
}

#[derive(sqlx::FromRow)]
struct Row {
    id: i64,
    name: String,
    path: String,
    upstream: String,
    access: String,
    cache: bool,
    is_off: bool,
}

/// Every route of the catalog by path; `span` as `domain::span` writes it.
#[server(endpoint = "ops_routes")]
pub async fn ops_routes(span: String) -> Result<Routes, Error> {
    use crate::books::{Filter, totals};

    crate::error::answer(async {
        require_ops().await?;
        let site = Site::current()?;
        let window = site.window(&span).await?;
        let mut books = totals(&site.db, window, &Filter::default()).await?.by_route();
        let rows: Vec<Row> = sqlx::query_as(
            "select route.id, route.name, path, upstream.name as upstream, access, cache, is_off
             from route join upstream on upstream.id = upstream_id
             where route.retired_at is null
             order by path",
        )
        .fetch_all(&site.db)
        .await?;
        let routes = rows
            .into_iter()
            .map(|row| {
                let (funnel, upstream_us) = match books.remove(&row.id) {
                    Some((funnel, upstream_us)) => (Some(funnel), upstream_us),
                    None => (None, 0),
                };
                let Row { name, path, upstream, access, cache, is_off, .. } = row;
                let route =
                    RouteForm { name, path, upstream, access, cache, off: is_off, ..RouteForm::usual() };
                RouteLine { route, funnel, upstream_us }
            })
            .collect();
        let nowhere = books.remove(&0).map_or(0, |(funnel, _)| funnel.arrived);
        Ok(Routes { window, routes, nowhere })
    })
    .await
}

/// Without a name a new one.
#[server(endpoint = "ops_route")]
pub async fn ops_route(#[server(default)] name: Option<String>) -> Result<RouteOffer, Error> {
    crate::error::answer(async {
        require_ops().await?;
        let mut tx = Site::current()?.db.begin().await?;
        state::freeze(&mut tx).await?;
        let manifest = state::read(&mut tx).await?.manifest;
        let route = match name {
            None => RouteForm::usual(),
            Some(name) => RouteForm::of(&table(&manifest, Kind::Route, &name).ok_or(Error::NotFound)?),
        };
        Ok(RouteOffer { route, upstreams: manifest.upstreams.into_keys().collect() })
    })
    .await
}

/// Makes a route, or with `is_new` false changes the one of that name, by the rules of `toll apply`. In force on every node
/// within a second; what was stored of it is forgotten. Leads to the list.
#[server(endpoint = "save_route")]
pub async fn save_route(wanted: RouteForm, #[server(default)] is_new: bool) -> Result<(), Error> {
    crate::error::answer(async {
        let viewer = require_ops().await?;
        let db = Site::current()?.db;
        edit(&db, By(&viewer.email), Kind::Route, |manifest| {
            let name = wanted.name.trim();
            match manifest.routes.contains_key(name) {
                true if is_new => Err(format!("there is a route {name:?} already")),
                false if !is_new => Err(format!("there is no route {name:?} any more")),
                _ => Ok(wanted.table()),
            }
        })
        .await
        .map_err(|error| error.by_labels(&LABELS))?;
        leptos_axum::redirect("/ops/routes");
        Ok(())
    })
    .await
}

/// A route that is off answers 503 `route_off`.
#[server(endpoint = "switch_route")]
pub async fn switch_route(name: String, off: bool) -> Result<(), Error> {
    crate::error::answer(async {
        let viewer = require_ops().await?;
        let db = Site::current()?.db;
        edit(&db, By(&viewer.email), Kind::Route, |manifest| {
            let mut table = table(manifest, Kind::Route, &name)
                .ok_or_else(|| format!("there is no route {name:?} any more"))?;
            table.insert("off".into(), off.into());
            Ok(table)
        })
        .await?;
        Ok(())
    })
    .await
}
