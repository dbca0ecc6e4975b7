//! What each route's cache served, and why not.

use super::csv::{Cell, Sheet, Table};
use super::read;
use crate::cache_use::cache_use;
use crate::domain::cache_miss::CacheMiss;
use crate::domain::outcome::Outcome;
use crate::error::Error;
use crate::widgets::address::Address;

pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let served = Outcome::FROM_CACHE;
    let mut columns = vec!["route", "asked"];
    columns.extend(served.map(Outcome::name));
    columns.extend(CacheMiss::ALL.map(CacheMiss::words));
    columns.extend(["upstream_calls_saved", "upstream_seconds_saved"]);
    let mut table = Table::new(&columns);
    for route in cache_use(&site.db, window).await? {
        let mut row: Vec<Cell> = vec![route.route.as_str().into(), route.asked.into()];
        row.extend(served.map(|outcome| of(&route.served, outcome)));
        row.extend(CacheMiss::ALL.map(|miss| of(&route.misses, miss)));
        row.push(route.saved_calls().into());
        row.push(Cell::Number(route.saved_us() as f64 / 1e6));
        table.rows.push(row);
    }
    Ok(Sheet { window, filters: Vec::new(), tables: vec![table] })
}

fn of<T: PartialEq>(counts: &[(T, u64)], what: T) -> Cell {
    counts.iter().find(|(known, _)| *known == what).map_or(0, |(_, requests)| *requests).into()
}
