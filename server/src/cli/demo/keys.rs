//! The demo's keys: made anew by each demo, within the plans' limits, as nobody keeps a key's text.

use anyhow::Context;
use app::domain::window::Window;
use app::keys::{self, MadeKey, NewKey};
use sqlx::PgPool;
use sqlx::postgres::types::PgInterval;
use time::Duration;

use super::BY;

/// What keys of a demo are called; those of an earlier demo are known by it.
const NAME: &str = "demo";

pub struct Keys {
    pub acme: MadeKey,
    pub globex: MadeKey,
    pub initech: MadeKey,
    pub hasty: MadeKey,
    pub lost: Lost,
}

/// Everything that can be wrong with a key that once was right.
pub struct Lost {
    pub revoked: MadeKey,
    pub expired: MadeKey,
    /// Good for `orders` only.
    pub limited: MadeKey,
}

impl Keys {
    /// As if they had been made when the past began, and revoked since; also for who reads the list of changes.
    pub async fn are_as_old_as(&self, db: &PgPool, past: Window) -> sqlx::Result<()> {
        let Keys { acme, globex, initech, hasty, lost } = self;
        let made = [acme, globex, initech, hasty, &lost.revoked, &lost.limited].map(|made| &made.key);
        let length = PgInterval::try_from(past.length()).map_err(sqlx::Error::Encode)?;
        sqlx::query(
            "update api_key set created_at = created_at - $2, revoked_at = revoked_at - $2 / 2 where id = any($1)",
        )
        .bind(made.map(|key| key.id))
        .bind(length)
        .execute(db)
        .await?;
        sqlx::query(
            "update change set at = at - case when before is null then $2 else $2 / 2 end
             where what = 'key' and name = any($1)",
        )
        .bind(made.map(keys::title))
        .bind(length)
        .execute(db)
        .await?;
        Ok(())
    }
}

/// Revokes what an earlier demo has left.
pub async fn make(db: &PgPool) -> anyhow::Result<Keys> {
    for slug in ["acme", "globex", "initech", "hasty", "lost"] {
        let partner = keys::partner_by_slug(db, slug).await?;
        for key in keys::list(db, Some(partner)).await? {
            if key.name.starts_with(NAME) && key.state.is_honoured() {
                keys::revoke(db, BY, Some(partner), key.id).await?;
            }
        }
    }
    let orders = ["orders".to_owned()];
    let lost = Lost {
        revoked: create(db, "lost", "demo, revoked", None, None).await?,
        expired: create(db, "lost", "demo, expired", Some(Duration::SECOND), None).await?,
        limited: create(db, "lost", "demo, orders only", None, Some(&orders)).await?,
    };
    keys::revoke(db, BY, None, lost.revoked.key.id).await?;
    Ok(Keys {
        acme: create(db, "acme", "demo", None, None).await?,
        globex: create(db, "globex", "demo", Some(Duration::days(30)), None).await?,
        initech: create(db, "initech", "demo", Some(Duration::days(5)), None).await?,
        hasty: create(db, "hasty", "demo", None, None).await?,
        lost,
    })
}

async fn create(
    db: &PgPool,
    slug: &str,
    name: &str,
    expires_in: Option<Duration>,
    routes: Option<&[String]>,
) -> anyhow::Result<MadeKey> {
    let partner = keys::partner_by_slug(db, slug).await?;
    let made = keys::create(db, BY, partner, NewKey { name, expires_in, routes }).await;
    made.with_context(|| format!("no key for the demo's partner {slug:?}"))
}
