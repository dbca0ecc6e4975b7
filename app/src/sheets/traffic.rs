//! The books of a window: the subtraction, traffic over time, latency.

use super::csv::{Cell, Sheet, Table};
use super::read;
use crate::books::{Filter, funnel};
use crate::domain::funnel::{Funnel, Latency};
use crate::domain::over_time::OverTime;
use crate::domain::stage::Stage;
use crate::error::Error;
use crate::over_time::over_time;
use crate::widgets::address::Address;

pub async fn sheet(address: &Address, partner: Option<i64>) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let of = Filter { partner, route: None };
    let funnel = funnel(&site.db, window, &of).await?;
    let traffic = over_time(&site.db, window, &of).await?;
    let tables = vec![books(&funnel), steps(&traffic, None), latency(&funnel.latency)];
    Ok(Sheet { window, filters: Vec::new(), tables })
}

/// Of one partner, who is named in the head.
pub async fn of_partner(address: &Address, id: i64, slug: &str) -> Result<Sheet, Error> {
    let sheet = sheet(address, Some(id)).await?;
    Ok(Sheet { filters: vec![("partner", slug.to_owned())], ..sheet })
}

/// From arrivals to the upstream, line by line, each with its reasons.
fn books(funnel: &Funnel) -> Table {
    let mut table = Table::new(&["line", "reason", "requests"]);
    let mut line = |name: &str, reason: Cell, requests: Cell| {
        table.rows.push(vec![name.into(), reason, requests]);
    };
    line("arrived", Cell::Empty, funnel.arrived.into());
    for stage in &funnel.stages {
        line(&format!("stopped at {}", stage.stage.name()), Cell::Empty, stage.stopped.into());
        for (outcome, requests) in &stage.outcomes {
            line(&format!("ended at {}", stage.stage.name()), outcome.as_str().into(), (*requests).into());
        }
    }
    line("in flight", Cell::Empty, funnel.in_flight.into());
    line("reached the upstream", Cell::Empty, funnel.reached_upstream.into());
    let statuses = &funnel.statuses;
    for (class, requests) in [
        ("1xx", statuses.informational),
        ("2xx", statuses.success),
        ("3xx", statuses.redirection),
        ("4xx", statuses.client_error),
        ("5xx", statuses.server_error),
        ("no answer", statuses.no_answer),
    ] {
        line("answered", class.into(), requests.into());
    }
    line("unaccounted", Cell::Empty, funnel.unaccounted.map_or(Cell::Empty, Cell::Count));
    line("upstream calls", Cell::Empty, funnel.upstream_calls.into());
    line("metered locally", Cell::Empty, funnel.metered_locally.into());
    table
}

/// One line a step, of something if there are several.
pub(super) fn steps(traffic: &OverTime, of: Option<(&'static str, &str)>) -> Table {
    let mut columns = vec!["from", "to"];
    columns.extend(of.map(|(what, _)| what));
    columns.extend(Stage::ALL.map(Stage::name));
    let mut table = Table::new(&columns);
    for (point, counts) in traffic.points.iter().enumerate() {
        let part = traffic.part(point);
        let mut row = vec![part.from.into(), part.to.into()];
        row.extend(of.map(|(_, name)| Cell::from(name)));
        row.extend(counts.map(Cell::from));
        table.rows.push(row);
    }
    table
}

/// One line a bucket.
pub(super) fn latency(latency: &Latency) -> Table {
    let mut table = Table::new(&["over_ms", "up_to_ms", "requests"]);
    for (bucket, requests) in latency.counts.into_iter().enumerate() {
        let bound = |n: Option<usize>| n.and_then(|n| latency.bounds_ms.get(n)).map(|ms| u64::from(*ms));
        table.rows.push(vec![
            bound(bucket.checked_sub(1)).into(),
            bound(Some(bucket)).into(),
            requests.into(),
        ]);
    }
    table
}
