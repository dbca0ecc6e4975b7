//! The list of requests, further than a page goes.

use super::csv::{Cell, Sheet, Table};
use super::read;
use crate::error::Error;
use crate::requests::{Asked, page};
use crate::widgets::address::Address;

/// Rows of a file at most; the head says where it stops.
const MOST: usize = 5_000;

pub async fn sheet(address: &Address, partner: Option<i64>) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let asked = Asked::from_address(address);
    let page = page(&site.db, window, &asked, partner, MOST).await?;
    // A partner's rows are its own, whomever the address names.
    let given = asked.given().filter(|(name, _)| partner.is_none() || *name != "partner");
    let mut filters: Vec<_> = given.map(|(name, value)| (name, value.to_owned())).collect();
    if page.older.is_some() {
        filters.push(("stops", format!("after the newest {}; there are older ones", page.rows.len())));
    }
    let whose = if partner.is_some() { "key" } else { "partner" };
    let mut table = Table::new(&[
        "arrived",
        "id",
        "method",
        "path",
        "route",
        whose,
        "stage",
        "outcome",
        "status",
        "duration_ms",
        "bytes_in",
        "bytes_out",
    ]);
    for row in page.rows {
        table.rows.push(vec![
            row.at.into(),
            row.id.to_string().into(),
            row.method.into(),
            row.path.into(),
            row.route.into(),
            if partner.is_some() { row.key.into() } else { row.partner.into() },
            row.stage.name().into(),
            row.outcome.name().into(),
            u64::from(row.status).into(),
            Cell::Number(row.duration_us as f64 / 1000.0),
            row.bytes_in.into(),
            row.bytes_out.into(),
        ]);
    }
    Ok(Sheet { window, filters, tables: vec![table] })
}
