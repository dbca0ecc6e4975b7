//! Who counted what, on which nodes, and who changed what.

use super::csv::{Cell, Sheet, Table};
use super::span;
use crate::changes::list;
use crate::error::Error;
use crate::screens::audit::api::{Differs, Ledger, kind, ops_ledger};
use crate::site::Site;
use crate::widgets::address::Address;

/// Changes of a file at most: the newest, whatever the window.
const MOST: i64 = 5_000;

pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let (recount, what) = (address.get("recount"), address.get("what"));
    let (span, kind) = (span(address)?, kind(what.unwrap_or_default())?);
    if let Some(other) = recount.filter(|recount| *recount != "on") {
        return Err(Error::Invalid(format!("A recount is on or left out, not {other:?}.")));
    }
    let ledger = ops_ledger(span.to_string(), recount.is_some()).await?;
    let changes = list(&Site::current()?.db, kind, None, MOST).await?;
    let filters = [("recount", recount), ("what", what)];
    let filters = filters.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned()))).collect();

    let mut table = Table::new(&["at", "who", "what", "name", "before", "after"]);
    for change in changes {
        let side = |side: Option<serde_json::Value>| side.map(|side| side.to_string()).into();
        let (before, after) = (side(change.before), side(change.after));
        table.rows.push(vec![
            change.at.into(),
            change.who.into(),
            change.what.into(),
            change.name.into(),
            before,
            after,
        ]);
    }
    let mut tables = vec![counted(&ledger), nodes(&ledger)];
    tables.extend(ledger.recount.as_ref().map(|recount| differences(&recount.differences)));
    tables.push(table);
    Ok(Sheet { window: ledger.funnel.window(), filters, tables })
}

fn counted(ledger: &Ledger) -> Table {
    let mut table = Table::new(&["counted", "requests"]);
    for (name, requests) in ledger.counts() {
        table.rows.push(vec![name.into(), requests.into()]);
    }
    table.rows.push(vec!["Unaccounted".into(), ledger.funnel.unaccounted.map_or(Cell::Empty, Cell::Count)]);
    table
}

fn nodes(ledger: &Ledger) -> Table {
    let mut table = Table::new(&["host", "node", "state", "heard", "inside"]);
    for node in &ledger.nodes {
        table.rows.push(vec![
            node.host.as_str().into(),
            node.identity.to_string().into(),
            node.state.word().into(),
            node.heard.into(),
            Cell::Count(node.open),
        ]);
    }
    table
}

/// A line for each who counted.
fn differences(differences: &[Differs]) -> Table {
    let mut table = Table::new(&["from", "length", "host", "of", "counted_by", "requests"]);
    for difference in differences {
        for (who, count) in &difference.counts {
            table.rows.push(vec![
                difference.at.into(),
                difference.grain.as_str().into(),
                difference.host.as_str().into(),
                difference.of.as_str().into(),
                who.as_str().into(),
                Cell::Count(*count),
            ]);
        }
    }
    table
}
