//! Keys that had ended and were still used.

use std::collections::BTreeMap;

use sqlx::{PgConnection, Row};
use time::{Duration, OffsetDateTime};

use super::{number, rows, select};
use crate::books::Tiles;
use crate::domain::moment;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::domain::verdict::Who;
use crate::domain::verdict::evidence::{EndedKey, Ending};
use crate::domain::window::{Grain, Window};

/// Keys that are read: those with the most calls.
const KEYS: i64 = 5;

pub async fn read(
    db: &mut PgConnection,
    window: Window,
    until: OffsetDateTime,
    who: Who,
) -> sqlx::Result<Vec<EndedKey>> {
    let (partner, whose) = match who {
        Who::Ops => (None, "$2::bigint is null"),
        Who::Partner(partner) => (Some(partner), "partner_id = $2"),
    };
    let refused = format!(
        "stage = {} and outcome in ({}, {}) and {whose}",
        Stage::Key.code(),
        Outcome::KeyRevoked.code(),
        Outcome::KeyExpired.code()
    );
    let mut tiles = Tiles::default();
    let rows_of_window = rows(&mut tiles, "rollup", window, "key_id, requests", &refused);
    let found = tiles
        .query(format!(
            "with used as (
             select key_id, sum(requests)::bigint as calls from ({rows_of_window}) as piece
             group by key_id order by calls desc, key_id limit {KEYS}
         )
         select key_id, calls, slug, expires_at, revoked_at
         from used join api_key on api_key.id = key_id join partner on partner.id = api_key.partner_id
         order by calls desc, key_id"
        ))
        .bind(partner)
        .fetch_all(&mut *db)
        .await?;
    let mut keys = Vec::new();
    for row in found {
        let (revoked_at, expires_at): (Option<OffsetDateTime>, Option<OffsetDateTime>) =
            (row.try_get("revoked_at")?, row.try_get("expires_at")?);
        // Revoked is judged first.
        let (ended, ended_at) = match (revoked_at, expires_at) {
            (Some(at), _) if at < window.to => (Ending::Revoked, at),
            (_, Some(at)) if at < window.to => (Ending::Expired, at),
            // Honoured again since then.
            _ => continue,
        };
        keys.push(EndedKey {
            id: row.try_get("key_id")?,
            partner: row.try_get("slug")?,
            ended,
            ended_at,
            calls: number(&row, "calls")?,
            by_minute: Vec::new(),
        });
    }
    let last_hour = Window { from: window.from.max(window.to - Duration::HOUR), to: window.to };
    let ids: Vec<i64> = keys.iter().map(|key| key.id).collect();
    let mut minutes: BTreeMap<(i64, i64), u64> = BTreeMap::new();
    let mut tiles = Tiles::default();
    let of_keys = format!("{refused} and key_id = any($3)");
    let by_minute = tiles.union_of([(Grain::Minute, last_hour)], |grain| {
        select("rollup", grain, "key_id, at, requests", &of_keys)
    });
    let by_minute = tiles.query(format!(
        "select key_id, at, sum(requests)::bigint as calls from ({by_minute}) as piece group by key_id, at"
    ));
    for row in by_minute.bind(partner).bind(ids).fetch_all(db).await? {
        let at: OffsetDateTime = row.try_get("at")?;
        minutes.insert((row.try_get("key_id")?, at.unix_timestamp() / 60), number(&row, "calls")?);
    }
    for key in &mut keys {
        let of_key =
            || minutes.range((key.id, 0)..=(key.id, i64::MAX)).map(|((_, minute), calls)| (*minute, *calls));
        let (first, last) = (of_key().next(), of_key().next_back());
        if let (Some((first, _)), Some((last, _))) = (first, last)
            && !moment::is_past(
                OffsetDateTime::from_unix_timestamp((last + 1) * 60).unwrap_or(window.to),
                until,
            )
        {
            key.by_minute = (first..=last).map(|m| minutes.get(&(key.id, m)).copied().unwrap_or(0)).collect();
        }
    }
    Ok(keys)
}
