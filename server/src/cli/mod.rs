//! The command line: what each command is called, and how its errors are told. A file a command.
//!
//! Exit codes: 0 done, 1 failed, 2 wrong usage (of the command line or of a setting).

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use tokio::time::sleep;

use crate::config::flags::{AllFlags, CommonFlags};
use crate::config::{Config, ConfigError};
use crate::telemetry;

mod apply;
pub mod audit;
mod database;
mod demo;
mod export;
pub mod funnel;
mod keys;
mod migrate;
mod purge;
mod serve;
mod signals;
mod usage;
mod users;
pub mod window;

use database::{CLOSE, Database};
use signals::Signals;
use usage::Misuse;

/// An API gateway with a portal. Where did the requests go?
#[derive(Parser)]
#[command(
    name = "toll",
    version,
    after_help = "Without a command: toll serve\n\nExample: toll serve --listen 127.0.0.1:8080"
)]
struct Cli {
    #[command(flatten)]
    common: CommonFlags,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Apply(apply::Args),
    Export(export::Args),
    Keys(keys::Args),
    Funnel(funnel::FunnelArgs),
    Audit(audit::AuditArgs),
    Demo(demo::Args),
    Migrate(migrate::Args),
    Purge(purge::Args),
    Users(users::Args),
}

pub fn main() -> ExitCode {
    let definition = Cli::command();
    let arguments = usage::with_default(std::env::args_os().collect(), &definition);
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error, &arguments, &definition),
    };
    match run(cli) {
        Ok(code) => code,
        Err(error) => report(&error),
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    cli.command.check()?;
    // Once a process, before anything speaks TLS. Fails only where it has been done.
    let _already = rustls::crypto::ring::default_provider().install_default();
    let name = cli.command.name();
    match cli.command {
        Command::Serve(args) => {
            let config = Config::load(&cli.common.layers(args.settings))?;
            telemetry::init(&config, None);
            serve::run(config)
        }
        command => {
            let config = Config::load(&cli.common.layers(AllFlags::default()))?;
            telemetry::init(&config, Some("warn"));
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(async {
                match command {
                    Command::Demo(args) => demo::run(args, name, &config).await,
                    Command::Apply(args) => {
                        // While there is nothing yet that a signal must not leave behind.
                        let text = args.read()?;
                        until_signal(name, &config, async |db| apply::run(args, text, &db.pool).await).await
                    }
                    command => {
                        if matches!(command, Command::Audit(_) | Command::Export(_) | Command::Funnel(_)) {
                            database::must_exist(&config)?;
                        }
                        until_signal(name, &config, async |db| dispatch(command, db, &config).await).await
                    }
                }
            })
        }
    }
}

/// Work with a database that the first signal ends.
async fn until_signal(
    name: &str,
    config: &Config,
    work: impl AsyncFnOnce(&Database) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    with_database(name, config, async |database, signals| {
        tokio::select! {
            done = work(database) => done,
            code = signals.next() => Ok(code),
        }
    })
    .await
}

/// Gives the work a database, and takes it away again however the work ends. Nothing else is waited for once a signal comes,
/// and nothing of a database that no longer answers.
async fn with_database(
    name: &str,
    config: &Config,
    work: impl AsyncFnOnce(&Database, &mut Signals) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::catch()?;
    let database = tokio::select! {
        database = Database::open(config, name) => database?,
        code = signals.next() => return Ok(code),
    };
    let (done, is_gone) = tokio::select! {
        done = work(&database, &mut signals) => (done, false),
        gone = database.gone() => (Err(gone.into()), true),
    };
    let is_urgent = is_gone || signals.came();
    // What is not closed by then ends with the runtime, a private server too.
    tokio::select! {
        closed = database.close() => closed?,
        code = signals.next() => return Ok(code),
        () = sleep(CLOSE), if is_urgent => {}
    }
    done
}

async fn dispatch(command: Command, database: &Database, config: &Config) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(_) | Command::Demo(_) | Command::Apply(_) => {
            unreachable!("they need more than a database")
        }
        Command::Export(args) => export::run(args, &database.pool).await,
        Command::Keys(args) => keys::run(args, &database.pool).await,
        Command::Funnel(args) => funnel::run(args, &database.pool).await,
        Command::Audit(args) => audit::run(args, &database.pool).await,
        Command::Migrate(args) => migrate::run(args, &database.pool).await,
        Command::Purge(args) => purge::run(args, &database.pool).await,
        Command::Users(args) => users::run(args, &database.pool, config).await,
    }
}

impl Command {
    /// Arguments that are right each for itself, and wrong together.
    fn check(&self) -> Result<(), Misuse> {
        match self {
            Command::Funnel(args) => args.window.check(),
            Command::Audit(args) => args.window.check(),
            Command::Users(args) => args.check(),
            _ => Ok(()),
        }
    }

    /// What others are told of who holds the private PostgreSQL.
    fn name(&self) -> &'static str {
        match self {
            Command::Serve(_) => "toll serve",
            Command::Apply(_) => "toll apply",
            Command::Export(_) => "toll export",
            Command::Keys(_) => "toll keys",
            Command::Funnel(_) => "toll funnel",
            Command::Audit(_) => "toll audit",
            Command::Demo(_) => "toll demo",
            Command::Migrate(_) => "toll migrate",
            Command::Purge(_) => "toll purge",
            Command::Users(_) => "toll users",
        }
    }
}

/// One line on standard error.
fn report(error: &anyhow::Error) -> ExitCode {
    let closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    };
    // Whoever read our output has seen enough: `toll funnel | head`.
    if error.chain().any(closed) {
        return ExitCode::SUCCESS;
    }
    eprintln!("toll: {}", usage::one_line(&usage::told(error)));
    ExitCode::from(if error.is::<ConfigError>() || error.is::<Misuse>() { 2 } else { 1 })
}
