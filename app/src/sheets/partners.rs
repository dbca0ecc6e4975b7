//! Partners, a line each; and the books of one of them.

use super::csv::{Cell, Sheet, Table};
use super::{read, traffic};
use crate::domain::ends::Ends;
use crate::domain::stage::Stage;
use crate::error::Error;
use crate::partners::{self, Listed};
use crate::site::Site;
use crate::widgets::address::Address;

/// Lines of a file at most; the head says where it stops.
const MOST: i64 = 5_000;

/// All pages of the list.
pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let search = address.get("search").unwrap_or_default();
    let page = partners::list(&site.db, window, search, 0, MOST).await?;
    let mut filters: Vec<_> =
        address.get("search").map(|search| ("search", search.to_owned())).into_iter().collect();
    if page.total > MOST {
        filters.push(("stops", format!("after {MOST} of {} partners", page.total)));
    }
    let mut columns = vec!["partner", "name", "plan", "suspended", "keys"];
    columns.extend(ENDS);
    let mut table = Table::new(&columns);
    for Listed { partner, keys, ends } in page.partners {
        let suspended = if partner.suspended { "yes" } else { "no" };
        let mut row: Vec<Cell> = vec![
            partner.slug.into(),
            partner.name.into(),
            partner.plan.into(),
            suspended.into(),
            Cell::Count(keys),
        ];
        row.extend(cells(&ends));
        table.rows.push(row);
    }
    Ok(Sheet { window, filters, tables: vec![table] })
}

/// What the partner itself takes from its first page.
pub async fn one(address: &Address, slug: &str) -> Result<Sheet, Error> {
    let partner = partners::find(&Site::current()?.db, slug).await?.ok_or(Error::NotFound)?;
    traffic::of_partner(address, partner.id, &partner.slug).await
}

/// Columns for where requests ended.
pub(super) const ENDS: [&str; 8] = [
    "arrived",
    "stopped_at_route",
    "stopped_at_key",
    "stopped_at_quota",
    "served_from_cache",
    "stopped_at_breaker",
    "not_sent",
    "reached",
];

pub(super) fn cells(ends: &Ends) -> impl Iterator<Item = Cell> + use<> {
    let stopped = Stage::ALL.map(|stage| ends.at(stage));
    std::iter::once(ends.arrived()).chain(stopped).chain([ends.reached]).map(Cell::from)
}
