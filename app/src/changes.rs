//! Who changed what: the one way in which a change is written down, within the transaction that makes it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;

/// In whose name something is changed: an e-mail address, or a command such as `toll apply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By<'a>(pub &'a str);

impl Default for By<'_> {
    fn default() -> Self {
        By("toll")
    }
}

/// What kind of thing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Upstream,
    Plan,
    Route,
    Partner,
    Key,
    Person,
    Invitation,
    /// A password, and the links that set one.
    Password,
    /// Opened or closed by hand.
    Breaker,
    /// Purged.
    Cache,
}

impl What {
    pub const ALL: [What; 10] = [
        What::Upstream,
        What::Plan,
        What::Route,
        What::Partner,
        What::Key,
        What::Person,
        What::Invitation,
        What::Password,
        What::Breaker,
        What::Cache,
    ];

    /// As the database keeps it.
    pub fn word(self) -> &'static str {
        match self {
            What::Upstream => "upstream",
            What::Plan => "plan",
            What::Route => "route",
            What::Partner => "partner",
            What::Key => "key",
            What::Person => "person",
            What::Invitation => "invitation",
            What::Password => "password",
            What::Breaker => "breaker",
            What::Cache => "cache",
        }
    }

    pub fn from_word(word: &str) -> Option<What> {
        What::ALL.into_iter().find(|what| what.word() == word)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Writes a change down. `before` and `after` are objects with what differs; the caller leaves secrets out.
pub async fn record(
    conn: &mut PgConnection,
    by: By<'_>,
    what: What,
    name: &str,
    before: Option<Value>,
    after: Option<Value>,
) -> sqlx::Result<()> {
    sqlx::query("insert into change (who, what, name, before, after) values ($1, $2, $3, $4, $5)")
        .bind(by.0)
        .bind(what.word())
        .bind(name)
        .bind(before)
        .bind(after)
        .execute(conn)
        .await?;
    Ok(())
}

/// A change that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, sqlx::FromRow)]
pub struct Change {
    pub id: i64,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub who: String,
    pub what: String,
    pub name: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// The newest changes first: at most `limit` of those older than the one with the id `before`, of one kind or of all.
pub async fn list(
    db: &PgPool,
    what: Option<What>,
    before: Option<i64>,
    limit: i64,
) -> sqlx::Result<Vec<Change>> {
    sqlx::query_as(
        "select id, at, who, what, name, before, after from change
         where ($1::text is null or what = $1) and ($2::bigint is null or id < $2)
         order by id desc
         limit $3",
    )
    .bind(what.map(What::word))
    .bind(before)
    .bind(limit)
    .fetch_all(db)
    .await
}
