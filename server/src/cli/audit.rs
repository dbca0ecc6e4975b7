//! `toll audit`: the recount. Succeeds only if door, rollups and log agree.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use app::books::audit::{Audit, Difference, Life, audit};
use app::domain::numbers::grouped;
use clap::Args;
use sqlx::PgPool;

use super::funnel::time;
use super::window::WindowArgs;

/// Recount arrivals at the door, rollups and raw log; exit 0 only if all agree
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example: toll audit --last 24h")]
pub struct AuditArgs {
    #[command(flatten)]
    pub window: WindowArgs,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: AuditArgs, db: &PgPool) -> anyhow::Result<ExitCode> {
    let window = args.window.window(db).await?;
    let audit = audit(db, window).await?;
    if args.json {
        writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&audit)?)?;
    } else {
        write!(io::stdout(), "{}", report(&audit))?;
    }
    Ok(if audit.agrees { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn report(audit: &Audit) -> String {
    let mut text = format!("{} to {}\n\n", time(audit.from), time(audit.to));
    let counts = [
        ("arrived at the door", audit.arrived),
        ("− open", audit.open),
        ("totals", audit.totals),
        ("rollups", audit.rollups),
        ("rows of the log", audit.log),
    ];
    for (what, count) in counts {
        let _ = writeln!(text, "{what:<20}{:>14}", grouped(count.unsigned_abs()));
    }
    text.push('\n');
    for node in &audit.nodes {
        let state = match node.state {
            Life::Living => "has shipped up to",
            Life::Stopped => "was stopped in good order at",
            Life::Silent => "is silent; last heard of at",
        };
        let heard = node.heard.time();
        let _ = write!(
            text,
            "node {} ({}) {state} {} {:02}:{:02}:{:02} UTC",
            node.host,
            node.identity,
            node.heard.date(),
            heard.hour(),
            heard.minute(),
            heard.second()
        );
        if node.state == Life::Silent && node.open > 0 {
            let _ = write!(text, ", {} open: start it again to have them settled", node.open);
        }
        text.push('\n');
    }
    for difference in &audit.differences {
        text.push_str(&line(difference));
    }
    text.push_str(if audit.agrees { "all agree\n" } else { "they do not agree\n" });
    text
}

fn line(difference: &Difference) -> String {
    let Difference { node, host, grain, at, stage, outcome, counts } = difference;
    let mut text = format!("DIFFERENCE node {host} ({node}) {grain} {}", time(*at));
    if let (Some(stage), Some(outcome)) = (stage, outcome) {
        let _ = write!(text, " {stage}/{outcome}");
    }
    let counts: Vec<String> = counts.iter().map(|(counter, n)| format!("{counter} {n}")).collect();
    let _ = writeln!(text, ": {}", counts.join(", "));
    text
}
