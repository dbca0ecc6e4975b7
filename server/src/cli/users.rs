//! `toll users`: invite people, and let them back in.

use std::io::Write as _;
use std::process::ExitCode;

use app::changes::By;
use app::people::{InviteAs, invite, issue, link, reset_link};
use sqlx::PgPool;

use super::usage::Misuse;

/// Invite people to the portal, and let them back in
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: toll users invite --email ada@example.com --role ops")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Print a one-time link, good for 72 hours, that makes an account
    #[command(
        after_help = "Example: toll users invite --email bob@acme.example --role partner --partner acme"
    )]
    Invite {
        /// Whose account it will be
        #[arg(long)]
        email: String,
        /// Operators see everything, a partner's people see their partner
        #[arg(long)]
        role: Role,
        /// Slug of the partner, for that role
        #[arg(long, value_name = "SLUG", required_if_eq("role", "partner"))]
        partner: Option<String>,
    },
    /// Print a one-time link, good for 24 hours, that sets a new password
    #[command(after_help = "Example: toll users reset --email bob@acme.example")]
    Reset {
        /// Whose password it is
        #[arg(long)]
        email: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Role {
    Ops,
    Partner,
}

impl Args {
    pub fn check(&self) -> Result<(), Misuse> {
        match &self.command {
            Command::Invite { role: Role::Ops, partner: Some(_), .. } => {
                Err(Misuse("operators belong to no partner: leave --partner out".into()))
            }
            Command::Invite { .. } | Command::Reset { .. } => Ok(()),
        }
    }
}

/// Prints nothing but the link on standard output, so that a script can take it as it is.
pub async fn run(args: Args, db: &PgPool, public_url: &str) -> anyhow::Result<ExitCode> {
    let (email, role, partner) = match args.command {
        Command::Invite { email, role, partner } => (email, role, partner),
        Command::Reset { email } => {
            let token = issue(db, By("toll users"), &email).await?;
            eprintln!("for {email}, once, within 24 hours:");
            writeln!(std::io::stdout(), "{}", reset_link(public_url, &token))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let role = match (role, partner) {
        (Role::Ops, _) => InviteAs::Ops,
        (Role::Partner, slug) => {
            InviteAs::Partner(app::keys::partner_by_slug(db, slug.as_deref().unwrap_or_default()).await?)
        }
    };
    let token = invite(db, By("toll users"), &email, role).await?;
    eprintln!("for {email}, once, within 72 hours:");
    writeln!(std::io::stdout(), "{}", link(public_url, &token))?;
    Ok(ExitCode::SUCCESS)
}
