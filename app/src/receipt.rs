//! Finding one request in the log.

use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgPool, Row};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::domain::cache_miss::CacheMiss;
use crate::domain::receipt::{Opening, Receipt};

/// How far a request's time may lie from the one inside its id.
const SLACK: Duration = Duration::SECOND;
/// For how long a receipt may be on its way to the log, or the request still be running.
const ON_ITS_WAY: Duration = Duration::minutes(5);

#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Found {
    Receipt(Box<Receipt>),
    /// It may have been made a moment ago, and is not in the log yet.
    NotYet,
}

/// The receipt of the request, if it was `partner`'s, or anybody's. Another's is as absent as one that never was.
pub async fn find(db: &PgPool, id: Uuid, partner: Option<i64>) -> sqlx::Result<Option<Found>> {
    let Some(at) = time_inside(id) else { return Ok(None) };
    // The time names the partitions to look into; without it all of them would be searched.
    let row = sqlx::query(include_str!("receipt.sql"))
        .bind(id)
        .bind(at - SLACK)
        .bind(at + SLACK)
        .bind(partner)
        .fetch_one(db)
        .await?;
    let age = row.try_get::<OffsetDateTime, _>("now")? - at;
    match row.try_get::<Option<Uuid>, _>("id")? {
        Some(_) => Ok(Some(Found::Receipt(Box::new(receipt(&row)?)))),
        None if row.try_get("is_anothers")? => Ok(None),
        None => Ok((age < ON_ITS_WAY && age > -ON_ITS_WAY).then_some(Found::NotYet)),
    }
}

/// Of a UUIDv7 only (RFC 9562 §5.7): Toll makes no other.
fn time_inside(id: Uuid) -> Option<OffsetDateTime> {
    if id.get_version_num() != 7 {
        return None;
    }
    let millis = id.as_u128() >> 80;
    OffsetDateTime::from_unix_timestamp_nanos(millis as i128 * 1_000_000).ok()
}

fn receipt(row: &PgRow) -> sqlx::Result<Receipt> {
    Ok(Receipt {
        id: row.try_get("id")?,
        at: row.try_get("at")?,
        stage: row.try_get("stage")?,
        outcome: row.try_get("outcome")?,
        reached: row.try_get("reached")?,
        status: row.try_get::<i16, _>("status")? as u16,
        upstream_status: row.try_get::<i16, _>("upstream_status")? as u16,
        cache_miss: CacheMiss::from_code(row.try_get("cache_miss")?),
        method: row.try_get("method")?,
        path: row.try_get("path")?,
        request_id: row.try_get("request_id")?,
        address: row.try_get("address")?,
        user_agent: row.try_get("user_agent")?,
        target: row.try_get("target")?,
        bytes_in: row.try_get::<i64, _>("bytes_in")? as u64,
        bytes_out: row.try_get::<i64, _>("bytes_out")? as u64,
        duration_us: row.try_get("duration_us")?,
        stage_us: row.try_get("stage_us")?,
        tokens_before: row.try_get("tokens_before")?,
        tokens_after: row.try_get("tokens_after")?,
        asked_ms: row.try_get("retry_asked_ms")?,
        waited_ms: row.try_get("retry_waited_ms")?,
        metered_locally: row.try_get("metered_locally")?,
        upstream_calls: row.try_get::<i16, _>("upstream_calls")? as u16,
        partner: row.try_get("partner")?,
        route: terms(row, "route")?,
        key: terms(row, "key")?,
        plan: terms(row, "plan")?,
        opening: match row.try_get("opened_at")? {
            Some(at) => Some(Opening { at, is_by_hand: row.try_get("is_by_hand")? }),
            None => None,
        },
    })
}

/// What the catalog says, if it has something of that `name`.
fn terms<'r, T: FromRow<'r, PgRow>>(row: &'r PgRow, name: &str) -> sqlx::Result<Option<T>> {
    let known: Option<&str> = row.try_get(name)?;
    known.map(|_| T::from_row(row)).transpose()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_time_is_read_from_version_seven_only() {
        // The example of RFC 9562, appendix A.6.
        let id = Uuid::from_u128(0x017f22e2_79b0_7cc3_98c4_dc0c0c07398f);
        assert_eq!(time_inside(id), Some(datetime!(2022-02-22 19:22:22 UTC)));
        assert_eq!(time_inside(Uuid::from_u128(0x919108f7_52d1_4320_9bac_f847db4148a8)), None);
        assert_eq!(time_inside(Uuid::nil()), None);
    }
}
