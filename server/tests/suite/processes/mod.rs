//! The real program, several times on one database, while machines fail: killed nodes, a database that goes away, clocks
//! that disagree.

mod changes;
mod database_away;
mod few_files;
mod killed;
mod probe;
mod two_nodes;

use std::process::{Command, Output};

use app::books::{self, Filter};
use app::domain::funnel::Funnel;
use app::domain::window::Window;
use sqlx::PgPool;
use time::OffsetDateTime;

use crate::support::catalog::orders;
use crate::support::origin::Origin;
use crate::support::toll::{Home, Serve};

/// A node: a data folder of its own, and a database that others use too.
pub struct Machine {
    home: Home,
    database_url: String,
}

impl Machine {
    pub fn on(database_url: &str) -> Machine {
        Machine { home: Home::empty(), database_url: database_url.to_owned() }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("DATABASE_URL", &self.database_url);
        command
    }

    pub fn serve(&self) -> Serve {
        Serve::start(self.command(&["serve"]))
    }

    /// Standard output of a command that must succeed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
        assert!(status.success(), "toll {arguments:?}: {status}\n{stdout}{stderr}");
        stdout
    }

    /// Writes the file that `toll apply` takes and applies it.
    pub fn apply(&self, text: &str) {
        let file = self.home.dir.path().join("catalog.toml");
        std::fs::write(&file, text).unwrap();
        self.run(&["apply", file.to_str().unwrap()]);
    }

    /// Id and text of a new key.
    pub fn create_key(&self, partner: &str) -> (String, String) {
        let told = self.run(&["keys", "create", "--partner", partner, "--name", "test", "--json"]);
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        let id = told["id"].as_str().map_or_else(|| told["id"].to_string(), str::to_owned);
        (id, told["key"].as_str().unwrap().to_owned())
    }
}

/// One route to `origin` and one partner, `acme`, on a plan of this size.
pub fn catalog(origin: &Origin, upstream: &str, capacity: u32, refill: f64) -> String {
    orders(&origin.url(), upstream, capacity, refill)
}

/// The funnel of the last hour.
pub async fn funnel(db: &PgPool) -> Funnel {
    let now = OffsetDateTime::now_utc();
    let window = Window::new(now - time::Duration::HOUR, now + time::Duration::minutes(2)).unwrap();
    books::funnel(db, window, &Filter::default()).await.unwrap()
}
