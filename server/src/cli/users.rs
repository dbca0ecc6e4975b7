//! `toll users`: invite people, let them back in, and let them go.

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::anyhow;
use app::changes::By;
use app::keys::partner_by_slug;
use app::people::{
    INVITATION_HOURS, InviteAs, InviteError, IssueError, RESET_HOURS, RemoveError, invite, issue, link,
    remove, reset_link, withdraw,
};
use sqlx::PgPool;

use super::keys;
use super::usage::Misuse;
use crate::config::Config;
use crate::ledger;

const BY: By<'static> = By("toll users");

/// Invite people to the portal, let them back in, and let them go
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
    /// Take an account away at once and everywhere, or an invitation back
    #[command(after_help = "Example: toll users remove --email bob@acme.example")]
    Remove {
        /// Whose account or invitation it is
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
            _ => Ok(()),
        }
    }
}

/// Prints nothing but the link on standard output, so that a script can take it as it is.
pub async fn run(args: Args, db: &PgPool, config: &Config) -> anyhow::Result<ExitCode> {
    let link = match args.command {
        Command::Invite { email, role, partner } => {
            let role = match (role, partner) {
                (Role::Ops, _) => InviteAs::Ops,
                (Role::Partner, slug) => {
                    let slug = slug.unwrap_or_default();
                    InviteAs::Partner(partner_by_slug(db, &slug).await.map_err(keys::told)?)
                }
            };
            let token = invite(db, BY, &email, role).await.map_err(|error| match error {
                InviteError::Exists { ref email, .. } => anyhow!(
                    "{error}: `toll users reset --email {email}` lets them back in, \
                     `toll users remove --email {email}` takes the account away"
                ),
                error => error.into(),
            })?;
            eprintln!("for {email}, once, within {INVITATION_HOURS} hours:");
            link(&public_url(db, config).await?, &token)
        }
        Command::Reset { email } => {
            let token = issue(db, BY, &email).await.map_err(|error| match error {
                IssueError::Unknown(_) => anyhow!("{error}: `toll users invite` makes a link for a new one"),
                error => error.into(),
            })?;
            eprintln!("for {email}, once, within {RESET_HOURS} hours:");
            reset_link(&public_url(db, config).await?, &token)
        }
        Command::Remove { email } => {
            let done = take_back(db, &email).await.map_err(|error| match error {
                RemoveError::LastOperator => anyhow!("{error}: `toll users invite --email E --role ops`"),
                error => error.into(),
            })?;
            writeln!(std::io::stdout(), "{done}")?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    writeln!(std::io::stdout(), "{link}")?;
    Ok(ExitCode::SUCCESS)
}

/// The account with this address, or if there is none its invitations; says which.
async fn take_back(db: &PgPool, email: &str) -> Result<String, RemoveError> {
    match remove(db, BY, None, email).await {
        Ok(()) => Ok(format!("removed {email}")),
        Err(unknown @ RemoveError::Unknown(_)) => match withdraw(db, BY, None, email).await {
            Ok(()) => Ok(format!("withdrew the invitation of {email}")),
            Err(RemoveError::NotInvited(_)) => Err(unknown),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// As this command was told, else as the node that serves was, else as one would be that is started like this command.
async fn public_url(db: &PgPool, config: &Config) -> sqlx::Result<String> {
    match &config.public_url {
        Some(told) => Ok(told.clone()),
        None => Ok(ledger::public_url(db).await?.unwrap_or_else(|| config.public_url())),
    }
}
