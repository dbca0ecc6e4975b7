//! Latency by route, and over time.

use super::csv::{Cell, Sheet, Table};
use super::read;
use crate::domain::histogram::{BOUNDS_MS, Histogram};
use crate::domain::stage::Stage;
use crate::error::Error;
use crate::latency::{by_route, is_route, over_time};
use crate::widgets::address::Address;

pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let route = address.get("route");
    if let Some(name) = route
        && !is_route(&site.db, name).await?
    {
        return Err(Error::Invalid(format!("There is no route {name:?}.")));
    }
    let mut buckets: Vec<String> = BOUNDS_MS.iter().map(|bound| format!("up_to_{bound}_ms")).collect();
    buckets.push("over_5000_ms".into());

    let mut routes = Table::new(&["route"]);
    routes.columns.extend(buckets.iter().cloned());
    routes.columns.extend(Stage::ALL.map(|stage| format!("mean_ms_in_{}", stage.name())));
    for (name, times) in by_route(&site.db, window).await? {
        if route.is_none_or(|route| name == route) {
            let mut row = vec![Cell::from(name)];
            row.extend(counts(&times.at_upstream));
            row.extend(Stage::ALL.map(|stage| Cell::Number(times.mean(stage) as f64 / 1000.0)));
            routes.rows.push(row);
        }
    }

    let (steps, histograms) = over_time(&site.db, window, route).await?;
    let mut times = Table::new(&["from", "to"]);
    times.columns.extend(buckets);
    for (point, histogram) in histograms.iter().enumerate() {
        let part = steps.part(point);
        let mut row = vec![part.from.into(), part.to.into()];
        row.extend(counts(histogram));
        times.rows.push(row);
    }
    let filters = route.map(|route| ("route", route.to_owned())).into_iter().collect();
    Ok(Sheet { window, filters, tables: vec![routes, times] })
}

fn counts(histogram: &Histogram) -> impl Iterator<Item = Cell> + use<> {
    histogram.counts.into_iter().map(Cell::from)
}
