//! The log's partitions, a day each: made ahead, dropped by age.

use sqlx::{AssertSqlSafe, Connection, PgConnection};
use time::macros::format_description;
use time::{Date, Duration, OffsetDateTime};

/// Days for which a partition stands ready: yesterday, for what is still on its way, to a week ahead.
const AHEAD: std::ops::RangeInclusive<i64> = -1..=7;

/// Makes the partitions that are missing. Rows of such a day that the default partition has taken move in.
pub async fn make_ahead(db: &mut PgConnection, now: OffsetDateTime) -> sqlx::Result<()> {
    let existing = days(&mut *db).await?;
    for day in AHEAD.map(|days| now.date() + Duration::days(days)) {
        if !existing.contains(&day) {
            make(&mut *db, day).await?;
        }
    }
    Ok(())
}

/// Drops the days before `first`, and what the default partition holds of them.
pub async fn drop_before(db: &mut PgConnection, first: Date) -> sqlx::Result<()> {
    for day in days(&mut *db).await?.into_iter().filter(|day| *day < first) {
        let drop = format!("drop table {}", name(day));
        sqlx::query(AssertSqlSafe(drop)).execute(&mut *db).await?;
    }
    sqlx::query("delete from request_log_default where at < $1")
        .bind(first.midnight().assume_utc())
        .execute(db)
        .await?;
    Ok(())
}

async fn make(db: &mut PgConnection, day: Date) -> sqlx::Result<()> {
    let (table, from) = (name(day), day.midnight().assume_utc());
    let to = from + Duration::DAY;
    let mut tx = db.begin().await?;
    // Nothing may come into the default partition between the move and the attachment.
    sqlx::query("lock table request_log in access exclusive mode").execute(&mut *tx).await?;
    let create = format!("create table {table} (like request_log including all)");
    sqlx::query(AssertSqlSafe(create)).execute(&mut *tx).await?;
    let fill = format!(
        "with moved as (delete from request_log_default where at >= $1 and at < $2 returning *)
         insert into {table} select * from moved"
    );
    sqlx::query(AssertSqlSafe(fill)).bind(from).bind(to).execute(&mut *tx).await?;
    let attach =
        format!("alter table request_log attach partition {table} for values from ('{from}') to ('{to}')");
    sqlx::query(AssertSqlSafe(attach)).execute(&mut *tx).await?;
    tx.commit().await
}

/// Days that have a partition.
async fn days(db: &mut PgConnection) -> sqlx::Result<Vec<Date>> {
    let names: Vec<String> = sqlx::query_scalar(
        "select c.relname from pg_inherits as i join pg_class as c on c.oid = i.inhrelid
         where i.inhparent = 'request_log'::regclass and not i.inhdetachpending order by c.relname",
    )
    .fetch_all(db)
    .await?;
    let digits = format_description!("[year][month][day]");
    let day = |name: &String| Date::parse(name.strip_prefix("request_log_")?, digits).ok();
    Ok(names.iter().filter_map(day).collect())
}

fn name(day: Date) -> String {
    format!("request_log_{:04}{:02}{:02}", day.year(), u8::from(day.month()), day.day())
}
