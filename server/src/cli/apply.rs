//! `toll apply FILE`: makes upstreams, plans, routes and partners as a file says.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use app::changes::By;
use serde_json::json;
use sqlx::PgPool;

use crate::manifest::apply::{ApplyError, Options, apply};
use crate::manifest::diff::Difference;
use crate::manifest::file;

/// Make upstreams, plans, routes and partners as FILE says, and print the difference
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll apply toll-catalog.toml --dry-run")]
pub struct Args {
    /// The file in TOML; "-" reads standard input
    file: PathBuf,
    /// Print the difference and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also remove what FILE lacks, partners who signed up by themselves included
    #[arg(long)]
    prune: bool,
    /// Print the difference as JSON
    #[arg(long)]
    json: bool,
}

/// 0: the database is as the file says. 1: something is wrong with the file, told on standard error; nothing was changed.
pub async fn run(args: Args, text: Text, db: &PgPool) -> anyhow::Result<ExitCode> {
    let name = args.file.display();
    let text = match text {
        Ok(text) => text,
        Err(line) => {
            eprintln!("{name}:{line}: is not UTF-8; save the file as UTF-8");
            return Ok(ExitCode::FAILURE);
        }
    };
    let options =
        Options { dry_run: args.dry_run, prune: args.prune, by: By("toll apply"), ..Options::default() };
    match apply(db, &file::read(&text), options).await {
        Ok(difference) => {
            let printed =
                if args.json { as_json(&difference, options) } else { as_text(&difference, options) };
            std::io::stdout().write_all(printed.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(ApplyError::Wrong(problems)) => {
            for problem in problems {
                eprintln!("{name}:{problem}");
            }
            Ok(ExitCode::FAILURE)
        }
        Err(ApplyError::Database(error)) => Err(error).context("nothing was applied"),
    }
}

/// What the file says, or the line that is not UTF-8.
pub type Text = Result<String, usize>;

impl Args {
    /// Waits for the end of standard input, and for as long hears no signals.
    pub fn read(&self) -> anyhow::Result<Text> {
        read(&self.file).with_context(|| format!("{} cannot be read", self.file.display()))
    }
}

fn read(file: &Path) -> std::io::Result<Text> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes)?;
    } else {
        bytes = std::fs::read(file)?;
    }
    Ok(String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        good.iter().filter(|byte| **byte == b'\n').count() + 1
    }))
}

fn as_text(difference: &Difference, options: Options<'_>) -> String {
    let mut text = difference.to_string();
    text += &match (difference.is_empty(), options.dry_run) {
        (true, _) => "nothing to change\n".to_owned(),
        (false, true) => format!("dry run, nothing was changed; it would be: {}\n", difference.summary()),
        (false, false) => format!("{}\n", difference.summary()),
    };
    if !difference.unlisted.is_empty() {
        let names: Vec<_> = difference
            .unlisted
            .iter()
            .take(10)
            .map(|thing| format!("{} {}", thing.kind, thing.name))
            .collect();
        let more = if difference.unlisted.len() > names.len() { ", …" } else { "" };
        text += &format!("not in the file, and kept (--prune retires): {}{more}\n", names.join(", "));
    }
    text
}

fn as_json(difference: &Difference, options: Options<'_>) -> String {
    let applied = !options.dry_run && !difference.is_empty();
    let value = json!({
        "dry_run": options.dry_run,
        "applied": applied,
        "changes": difference.changes,
        "unlisted": difference.unlisted,
    });
    format!("{value:#}\n")
}
