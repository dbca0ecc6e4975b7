//! Finding one request in the log.

use sqlx::postgres::PgRow;
use sqlx::{PgPool, Row};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::domain::cache_miss::CacheMiss;
use crate::domain::outcome::Outcome;
use crate::domain::receipt::{KeyTerms, PlanTerms, Receipt, RouteTerms};
use crate::domain::stage::Stage;

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
    let (stage, outcome) = (row.try_get("stage")?, row.try_get("outcome")?);
    let (Some(stage), Some(outcome)) = (Stage::from_code(stage), Outcome::from_code(outcome)) else {
        let text = format!("stage {stage} and outcome {outcome} are of another version of Toll");
        return Err(sqlx::Error::Decode(text.into()));
    };
    let stage_us: Vec<i64> = row.try_get("stage_us")?;
    Ok(Receipt {
        id: row.try_get("id")?,
        at: row.try_get("at")?,
        stage,
        outcome,
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
        stage_us: stage_us.try_into().unwrap_or_default(),
        tokens_before: row.try_get("tokens_before")?,
        tokens_after: row.try_get("tokens_after")?,
        asked_ms: row.try_get("retry_asked_ms")?,
        waited_ms: row.try_get("retry_waited_ms")?,
        metered_locally: row.try_get("metered_locally")?,
        upstream_calls: row.try_get::<i16, _>("upstream_calls")? as u16,
        partner: row.try_get("partner")?,
        route: route(row)?,
        key: key(row)?,
        plan: plan(row)?,
    })
}

fn route(row: &PgRow) -> sqlx::Result<Option<RouteTerms>> {
    let Some(name) = row.try_get("route")? else { return Ok(None) };
    Ok(Some(RouteTerms {
        name,
        is_public: row.try_get("is_public")?,
        methods: row.try_get("methods")?,
        body_limit: row.try_get("body_limit")?,
        timeout_ms: row.try_get("timeout_ms")?,
        breaker_failures: row.try_get("breaker_failures")?,
        breaker_window_ms: row.try_get("breaker_window_ms")?,
        breaker_open_ms: row.try_get("breaker_open_ms")?,
    }))
}

fn key(row: &PgRow) -> sqlx::Result<Option<KeyTerms>> {
    let Some(name) = row.try_get("key")? else { return Ok(None) };
    Ok(Some(KeyTerms {
        name,
        start: row.try_get("start")?,
        routes: row.try_get("key_routes")?,
        expires_at: row.try_get("expires_at")?,
        revoked_at: row.try_get("revoked_at")?,
    }))
}

fn plan(row: &PgRow) -> sqlx::Result<Option<PlanTerms>> {
    let Some(name) = row.try_get("plan")? else { return Ok(None) };
    Ok(Some(PlanTerms {
        name,
        capacity: row.try_get::<i32, _>("capacity")? as u32,
        refill_per_second: row.try_get("refill_per_second")?,
    }))
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
