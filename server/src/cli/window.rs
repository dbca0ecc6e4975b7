//! `--last 1h` or `--from T --to T`: the span of time that a command looks at.

use app::domain::window::{Window, parse_span, parse_time};
use clap::Args;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::usage::Misuse;

#[derive(Args, Clone, Debug, Default)]
pub struct WindowArgs {
    /// The time up to now: 15m, 1h, 24h, 7d [default: 1h]
    #[arg(long, value_name = "SPAN", value_parser = parse_span, conflicts_with_all = ["from", "to"])]
    pub last: Option<Duration>,
    /// Begin, as 2026-01-31T14:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "to")]
    pub from: Option<OffsetDateTime>,
    /// End, exclusive
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "from")]
    pub to: Option<OffsetDateTime>,
}

impl WindowArgs {
    /// What no single argument can know: before anything is opened or started.
    pub fn check(&self) -> Result<(), Misuse> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if from >= to => {
                Err(Misuse("--from is not before --to: give the earlier time to --from".into()))
            }
            _ => Ok(()),
        }
    }

    /// In whole minutes, by the database's clock.
    pub async fn window(&self, db: &PgPool) -> anyhow::Result<Window> {
        if let (Some(from), Some(to)) = (self.from, self.to) {
            return Ok(Window::new(from, to)?);
        }
        let span = self.last.unwrap_or(Duration::HOUR);
        let now: OffsetDateTime = sqlx::query_scalar("select now()").fetch_one(db).await?;
        Ok(Window::last(span, now))
    }
}
