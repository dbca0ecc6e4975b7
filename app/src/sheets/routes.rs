//! Routes, a line each.

use super::csv::{Cell, Sheet, Table};
use super::partners::{ENDS, cells};
use super::span;
use crate::domain::ends::Ends;
use crate::error::Error;
use crate::screens::routes::api::{RouteLine, Routes, ops_routes};
use crate::widgets::address::Address;

pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let Routes { window, routes, nowhere } = ops_routes(span(address)?.to_string()).await?;
    let mut columns = vec!["route", "path", "upstream", "off"];
    columns.extend(ENDS);
    columns.extend(["upstream_seconds", "p95_over_ms", "p95_up_to_ms"]);
    let mut table = Table::new(&columns);
    for RouteLine { route, funnel, upstream_us } in routes {
        let ends = funnel.as_ref().map(Ends::of).unwrap_or_default();
        let p95 = funnel.and_then(|funnel| funnel.latency.p95);
        let off = if route.off { "yes" } else { "no" };
        let mut row: Vec<Cell> =
            vec![route.name.into(), format!("/api{}", route.path).into(), route.upstream.into(), off.into()];
        row.extend(cells(&ends));
        row.push(Cell::Number(upstream_us as f64 / 1e6));
        row.push(p95.map(|p95| u64::from(p95.low)).into());
        row.push(p95.and_then(|p95| p95.high).map(u64::from).into());
        table.rows.push(row);
    }
    let mut lost = Table::new(&["named_no_route"]);
    lost.rows.push(vec![nowhere.into()]);
    Ok(Sheet { window, filters: Vec::new(), tables: vec![table, lost] })
}
