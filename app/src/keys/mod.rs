//! Making and ending API keys. Portal and command line call the same functions, so that both keep the same rules.
//!
//! Where a function takes a `scope`, it acts within that partner only: the keys of others do not exist. None is for
//! operators. Each change is announced in its transaction, so that no node goes on honouring a revoked key.

mod change;
mod create;
mod list;
mod usage;

use std::fmt;

use serde_json::{Value, json};
use sqlx::{PgConnection, PgPool};
use time::Duration;
use time::format_description::well_known::Rfc3339;

pub use change::{rename, revoke, rotate};
pub use create::{NewKey, allowance, create};
pub use list::list;
pub use usage::{Allowance, PAGE, usage};

use crate::announce::{Change, announce};
use crate::changes::{self, By, What};
use crate::domain::api_key::ApiKey;
use crate::domain::title;

/// Until when a key may be made to last, at most.
pub const LONGEST_EXPIRY: Duration = Duration::days(3660);
/// How long a rotated key may be honoured beside its successor, at most.
pub const LONGEST_OVERLAP: Duration = Duration::days(30);

/// A key that was just made, with its text: shown once, kept nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct MadeKey {
    pub key: ApiKey,
    pub text: String,
}

/// What a caller did wrong, in words for people; the database's own failures apart.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("there is no key {0}")]
    NotFound(i64),
    #[error("there is no partner {0:?}")]
    NoPartner(String),
    #[error("the plan's limit of keys is reached (max_keys = {max}); revoke one first")]
    LimitReached { max: i32 },
    #[error("a key's name has 1 to 100 visible characters in one line")]
    BadName,
    #[error("a key lasts for more than no time and at most 3660 days")]
    BadExpiry,
    #[error("two keys overlap for at most 30 days")]
    BadOverlap,
    #[error("{0:?} is no route that the partner's plan allows")]
    NoRoute(String),
    #[error("a key that is limited to no route opens nothing; name one, or leave the limit out")]
    NoRoutes,
    #[error("the key is revoked or expired; make a new one")]
    Ended,
    #[error("the key was rotated already, and ends by itself; rotate its successor, or make a new one")]
    RotatedAlready,
    #[error("the key that this one replaces is still honoured; revoke that one first, or wait until it ends")]
    StillOverlapping,
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The id of the partner `slug`.
pub async fn partner_by_slug(db: &PgPool, slug: &str) -> Result<i64, KeyError> {
    sqlx::query_scalar("select id from partner where slug = $1 and retired_at is null")
        .bind(slug)
        .fetch_optional(db)
        .await?
        .ok_or_else(|| KeyError::NoPartner(slug.to_owned()))
}

/// The key's text stays out of logs.
impl fmt::Debug for MadeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeKey").field("key", &self.key).finish_non_exhaustive()
    }
}

fn check_name(name: &str) -> Result<(), KeyError> {
    if title::fits(name) { Ok(()) } else { Err(KeyError::BadName) }
}

/// What a key is called in the list of changes: "production of acme (toll_a1b2c…)".
pub fn title(key: &ApiKey) -> String {
    format!("{} of {} ({}…)", key.name, key.partner, key.start)
}

/// For the audit: a key by its partner, its name and its start.
async fn note(
    conn: &mut PgConnection,
    by: By<'_>,
    key: &ApiKey,
    before: Option<Value>,
    after: Option<Value>,
) -> sqlx::Result<()> {
    changes::record(conn, by, What::Key, &title(key), before, after).await
}

fn described(key: &ApiKey) -> Value {
    let expires = key.expires_at.and_then(|at| at.format(&Rfc3339).ok());
    json!({ "expires": expires, "routes": key.routes })
}

async fn announce_key(conn: &mut PgConnection, hash: [u8; 32]) -> sqlx::Result<()> {
    announce(conn, Change::Key(hash)).await
}
