//! Outages with whom they held back, and traffic by upstream.

use super::csv::{Cell, Sheet, Table};
use super::{read, traffic};
use crate::breakers;
use crate::error::Error;
use crate::over_time::by_upstream;
use crate::widgets::address::Address;

const MOST: usize = 200;

pub async fn sheet(address: &Address) -> Result<Sheet, Error> {
    let (site, window) = read(address).await?;
    let outages = breakers::outages(&site.db, window, None).await?;
    let held = breakers::held_back(&site.db, &outages, site.now().await?, MOST).await?;
    let mut table =
        Table::new(&["upstream", "opened", "closed", "times", "reason", "partner", "requests_held_back"]);
    for held in held {
        let times = held.outages.len() as u64;
        let (from, to) = (held.oldest().from, held.newest().to);
        let mut reasons: Vec<&str> = held.outages.iter().rev().map(|outage| outage.reason.as_str()).collect();
        reasons.dedup();
        let (upstream, reasons) = (held.newest().upstream.clone(), reasons.join("; "));
        // Whoever was not held back by anybody has a line too.
        let nobody = held.partners.is_empty().then(|| (String::new(), 0));
        for (partner, requests) in held.partners.into_iter().chain(nobody) {
            table.rows.push(vec![
                upstream.as_str().into(),
                from.into(),
                to.into(),
                times.into(),
                reasons.as_str().into(),
                if partner.is_empty() { Cell::Empty } else { partner.into() },
                requests.into(),
            ]);
        }
    }
    let mut tables = vec![table];
    let mut by_upstream = by_upstream(&site.db, window).await?;
    for upstream in breakers::upstreams(&site.db).await? {
        tables.push(traffic::steps(&by_upstream.of(upstream.id), Some(("upstream", &upstream.name))));
    }
    Ok(Sheet { window, filters: Vec::new(), tables })
}
