//! `toll funnel`: where did the requests go.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context;
use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::histogram::Percentile;
use app::domain::numbers::grouped;
use app::domain::outcome::Outcome;
use clap::Args;
use sqlx::PgPool;

use super::window::WindowArgs;

/// Where did the requests go: from arrivals to the upstream, stage by stage
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: toll funnel --last 24h --partner acme")]
pub struct FunnelArgs {
    /// Only this partner's requests
    #[arg(long, value_name = "SLUG")]
    pub partner: Option<String>,
    /// Only requests of this route
    #[arg(long, value_name = "NAME")]
    pub route: Option<String>,
    #[command(flatten)]
    pub window: WindowArgs,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: FunnelArgs, db: &PgPool) -> anyhow::Result<ExitCode> {
    let of = Filter {
        partner: match &args.partner {
            Some(slug) => Some(id_of(db, PARTNER, slug).await?.with_context(|| no("partner", slug))?),
            None => None,
        },
        route: match &args.route {
            Some(name) => Some(id_of(db, ROUTE, name).await?.with_context(|| no("route", name))?),
            None => None,
        },
    };
    let window = args.window.window(db).await?;
    let funnel = books::funnel(db, window, &of).await?;
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&funnel)?)?;
    } else {
        write!(io::stdout(), "{}", table(&funnel))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A name may have been retired and given again: the newest bearer is meant, one in use before all.
const PARTNER: &str =
    "select id from partner where slug = $1 order by retired_at is not null, id desc limit 1";
const ROUTE: &str = "select id from route where name = $1 order by retired_at is not null, id desc limit 1";

async fn id_of(db: &PgPool, query: &'static str, name: &str) -> sqlx::Result<Option<i64>> {
    sqlx::query_scalar(query).bind(name).fetch_optional(db).await
}

fn no(what: &str, name: &str) -> String {
    format!("there is no {what} {name:?}; `toll export` shows those there are")
}

/// The subtraction, for people.
pub(super) fn table(funnel: &Funnel) -> String {
    let mut lines = vec![("arrived".to_owned(), grouped(funnel.arrived))];
    for stage in &funnel.stages {
        lines.push((format!("− {}", stage.stage.name()), grouped(stage.stopped)));
        for (name, count) in funnel.stopped_by(stage.stage) {
            lines.push((format!("    {name}"), format!("({})", grouped(count))));
        }
    }
    if let Some(in_flight) = funnel.in_flight {
        lines.push(("− in flight".into(), grouped(in_flight)));
    }
    lines.push(("= reached upstream".into(), grouped(funnel.reached_upstream)));
    let s = &funnel.statuses;
    let classes = [
        ("1xx", s.informational),
        ("2xx", s.success),
        ("3xx", s.redirection),
        ("4xx", s.client_error),
        ("5xx", s.server_error),
        ("no answer", s.no_answer),
    ];
    for (class, count) in classes.into_iter().filter(|(_, count)| *count > 0) {
        lines.push((format!("    {class}"), format!("({})", grouped(count))));
    }
    // The same requests once more, where they did not all end well.
    let otherwise = funnel.reached_outcomes.iter().filter(|(name, _)| *name != Outcome::Forwarded.name());
    for (n, (name, count)) in otherwise.enumerate() {
        let name = if n == 0 { format!("    of these {name}") } else { format!("             {name}") };
        lines.push((name, format!("({})", grouped(*count))));
    }
    // Always there: that it is 0 is what the books are for.
    if let Some(unaccounted) = funnel.unaccounted {
        lines.push(("unaccounted".into(), unaccounted.to_string()));
    }
    let labels = lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    // A bracket stands outside of the column, so that digits stand below digits.
    let numbers = lines.iter().map(|(_, n)| n.trim_matches(['(', ')']).chars().count()).max().unwrap_or(0);
    let mut text = format!("{} to {}\n\n", time(funnel.from), time(funnel.to));
    for (label, count) in lines {
        let bracket = if count.ends_with(')') { 0 } else { 1 };
        let width = numbers + 3 - bracket;
        let _ = writeln!(text, "{label:labels$}{count:>width$}");
    }
    let _ = writeln!(text, "\nupstream calls {}", grouped(funnel.upstream_calls));
    if funnel.metered_locally > 0 {
        let _ = writeln!(text, "metered locally {}", grouped(funnel.metered_locally));
    }
    for (name, percentile) in
        [("p50", &funnel.latency.p50), ("p95", &funnel.latency.p95), ("p99", &funnel.latency.p99)]
    {
        if let Some(words) = percentile.as_ref().map(Percentile::words) {
            let _ = writeln!(text, "{name} {words}");
        }
    }
    text
}

/// To the minute: 2026-01-31 14:00 UTC.
pub(super) fn time(at: time::OffsetDateTime) -> String {
    format!("{} {:02}:{:02} UTC", at.date(), at.hour(), at.minute())
}

#[cfg(test)]
mod tests {
    use app::domain::funnel::{Counts, Door, Line};
    use app::domain::stage::Stage;
    use app::domain::window::Window;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_table_is_a_subtraction_with_its_reasons_and_digits_below_digits() {
        let line = |stage, outcome, reached, upstream_class, requests| Line {
            stage,
            outcome,
            reached,
            upstream_class,
            requests,
        };
        let counts = Counts {
            lines: vec![
                line(Stage::Route, Outcome::NoRoute, false, 0, 3),
                line(Stage::Quota, Outcome::QuotaSpent, false, 0, 1_185),
                line(Stage::Proxy, Outcome::UpstreamUnreachable, false, 0, 2),
                line(Stage::Proxy, Outcome::ClientGone, false, 0, 5),
                line(Stage::Proxy, Outcome::ClientGone, true, 2, 1),
                line(Stage::Proxy, Outcome::GatewayLost, true, 0, 6),
                line(Stage::Proxy, Outcome::Forwarded, true, 2, 33),
            ],
            door: Some(Door { arrived: 1_239, in_flight: 4 }),
            upstream_calls: 41,
            ..Counts::default()
        };
        let window =
            Window::new(datetime!(2026-01-01 10:00 UTC), datetime!(2026-01-01 11:00 UTC)).expect("forward");
        let expected = "\
2026-01-01 10:00 UTC to 2026-01-01 11:00 UTC

arrived                    1,239
− route                        3
    no_route                  (3)
− key                          0
− quota                    1,185
    quota_spent           (1,185)
− cache                        0
− breaker                      0
− proxy                        7
    client_gone               (5)
    upstream_unreachable      (2)
− in flight                    4
= reached upstream            40
    2xx                      (34)
    no answer                 (6)
    of these client_gone      (1)
             gateway_lost     (6)
unaccounted                    0

upstream calls 41
";
        assert_eq!(table(&Funnel::new(window, &counts)), expected);
    }
}
