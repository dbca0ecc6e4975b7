//! The one statement of the shipper: a batch's columns as arrays, bound in the order of `ship.sql`.

use std::sync::LazyLock;

use app::domain::histogram::bucket_of;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use app::domain::window::Grain;
use sqlx::{AssertSqlSafe, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use super::batch::Batch;
use super::door::MINUTE;
use super::record::{End, Record};
use crate::clock::Micros;

/// Keys of the two wide families of rollups, in the order of their primary keys. The third, `ends`, has ways to end as columns.
const FAMILIES: [(&str, &str); 2] = [
    ("rollup", "partner_id, route_id, key_id, stage, outcome, reached, status_class, cache_miss"),
    ("total", "route_id, stage, outcome, reached, status_class, cache_miss"),
];

static STATEMENT: LazyLock<String> = LazyLock::new(|| {
    let mut rollups = String::new();
    for (family, keys) in FAMILIES {
        for grain in Grain::ALL {
            let arm = include_str!("rollup.sql").replace("{{family}}", family);
            rollups.push_str(&arm.replace("{{grain}}", grain.name()).replace("{{keys}}", keys));
        }
    }
    for grain in Grain::ALL {
        rollups.push_str(&include_str!("ends.sql").replace("{{grain}}", grain.name()));
    }
    let faults = [Outcome::UpstreamUnreachable, Outcome::UpstreamTimeout, Outcome::UpstreamBroken];
    let faults = faults.map(|outcome| outcome.code().to_string()).join(", ");
    let outcomes = [
        ("{{spent}}", Outcome::QuotaSpent.code().to_string()),
        ("{{early}}", Outcome::QuotaEarlyRetry.code().to_string()),
        ("{{faults}}", faults),
    ];
    for (name, codes) in outcomes {
        rollups = rollups.replace(name, &codes);
    }
    include_str!("ship.sql").replace("{{rollups}}", &rollups)
});

/// A record without an end is of calls that no request waited for: they are added to the line of those that were given
/// a stale answer meanwhile.
const BACKGROUND: End =
    End { stage: Stage::Cache, outcome: Outcome::CacheStale, status: 0, reached: false, upstream_status: 0 };

/// Where the database stands with a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub shipped: i64,
    pub batch: i64,
}

/// Ships a batch that begins at `mark`, and says whether it was this call that moved the mark.
pub async fn ship(
    db: &mut PgConnection,
    (node, lane, incarnation): (i32, i16, Uuid),
    mark: Mark,
    batch: &Batch,
) -> sqlx::Result<bool> {
    let records = &batch.records;
    let moved: i64 = sqlx::query_scalar(AssertSqlSafe(STATEMENT.as_str()))
        .bind(node)
        .bind(lane)
        .bind(mark.batch)
        .bind(mark.shipped)
        .bind(mark.shipped.max(batch.to as i64))
        .bind(incarnation)
        .bind(records.iter().map(|(seq, _)| *seq as i64).collect::<Vec<_>>())
        .bind(column(records, |r| r.id))
        .bind(column(records, |r| time_of(r.arrived)))
        .bind(column(records, |r| r.route))
        .bind(column(records, |r| r.partner))
        .bind(column(records, |r| r.key))
        .bind(column(records, |r| r.end.unwrap_or(BACKGROUND).stage.code()))
        .bind(column(records, |r| r.end.unwrap_or(BACKGROUND).outcome.code()))
        .bind(column(records, |r| r.end.is_some_and(|end| end.reached)))
        .bind(column(records, |r| r.end.map_or(0, |end| end.status as i16)))
        .bind(column(records, |r| r.end.map_or(0, |end| end.upstream_status as i16)))
        .bind(column(records, |r| r.cache_miss.map_or(0, |miss| miss.code())))
        .bind(column(records, |r| r.method.as_str()))
        .bind(column(records, |r| r.path.as_str()))
        .bind(column(records, |r| r.request_id.as_str()))
        .bind(column(records, |r| r.address.as_str()))
        .bind(column(records, |r| r.user_agent.as_str()))
        .bind(column(records, |r| r.target.as_str()))
        .bind(column(records, |r| number(r.bytes_in)))
        .bind(column(records, |r| number(r.bytes_out)))
        .bind(column(records, |r| number(r.duration_us)))
        .bind(column(records, bucket))
        .bind(column(records, |r| number(r.stage_us[0])))
        .bind(column(records, |r| number(r.stage_us[1])))
        .bind(column(records, |r| number(r.stage_us[2])))
        .bind(column(records, |r| number(r.stage_us[3])))
        .bind(column(records, |r| number(r.stage_us[4])))
        .bind(column(records, |r| number(r.stage_us[5])))
        .bind(column(records, |r| r.tokens_before))
        .bind(column(records, |r| r.tokens_after))
        .bind(column(records, |r| r.retry_asked_ms))
        .bind(column(records, |r| r.retry_waited_ms))
        .bind(column(records, |r| r.same_again))
        .bind(column(records, |r| r.metered_locally))
        .bind(column(records, |r| r.upstream_calls.min(i16::MAX as u16) as i16))
        .bind(column(records, |r| r.timed))
        .bind(column(records, |r| i16::from(r.end.is_some())))
        .bind(batch.door.iter().map(|row| time_of(row.minute * MINUTE)).collect::<Vec<_>>())
        .bind(batch.door.iter().map(|row| number(row.arrived)).collect::<Vec<_>>())
        .bind(batch.door.iter().map(|row| number(row.open)).collect::<Vec<_>>())
        .fetch_one(db)
        .await?;
    Ok(moved == 1)
}

fn column<'a, T>(records: &'a [(u64, Record)], of: impl Fn(&'a Record) -> T) -> Vec<T> {
    records.iter().map(|(_, record)| of(record)).collect()
}

/// The latency bucket; -1 for what is counted, but not timed.
fn bucket(record: &Record) -> i16 {
    let reached = record.end.is_some_and(|end| end.reached);
    if reached && record.timed { bucket_of(record.duration_us) as i16 } else { -1 }
}

/// Far above anything real, and far below where a sum of them would not fit.
fn number(n: u64) -> i64 {
    n.min(1 << 50) as i64
}

fn time_of(at: Micros) -> OffsetDateTime {
    // `door::holdable` has seen to the range.
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at) * 1000).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
