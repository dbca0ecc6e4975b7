//! What operators declare, as plain values: the file of `toll apply` on one side, the catalog's tables on the other.
//!
//! `file` and `rules` read the file, `state` reads the tables, `diff` compares the two, `apply` makes the tables as the
//! file says, `edit` makes one thing as a form says, and `export` writes the tables as a file. All of them speak of a [`Manifest`].

pub mod apply;
pub mod diff;
pub mod edit;
pub mod export;
mod fields;
pub mod file;
mod reader;
pub mod rules;
pub mod state;
mod tables;
mod values;
mod write;

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::changes::What;

/// Paths of PEM files, as the catalog has them. A relative one begins where the node was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The only authorities that are trusted; without it, those of the web.
    pub ca: Option<String>,
    /// Certificate chain and key that are shown to the upstream. Both or neither.
    pub cert: Option<String>,
    pub key: Option<String>,
}

/// A whole catalog by name. Lists without an order of their own (methods, origins, a plan's routes) are kept sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifest {
    pub upstreams: BTreeMap<String, Upstream>,
    pub plans: BTreeMap<String, Plan>,
    pub routes: BTreeMap<String, Route>,
    pub partners: BTreeMap<String, Partner>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    pub urls: Vec<String>,
    pub connect_timeout_ms: i64,
    pub timeout_ms: i64,
    pub health: Option<String>,
    /// Values as written, `${VARIABLE}` and all: secrets stay in the environment of each node.
    pub headers: BTreeMap<String, String>,
    /// For `https://` urls.
    pub tls: TlsFiles,
    pub breaker: Breaker,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    pub failures: i32,
    pub window_ms: i64,
    pub open_ms: i64,
    pub max_in_flight: i32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub capacity: i32,
    pub refill_per_second: f64,
    pub max_keys: i32,
    /// None: all.
    pub routes: Option<Vec<String>>,
    pub sign_up: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    pub path: String,
    pub upstream: String,
    pub strip: bool,
    /// None: all.
    pub methods: Option<Vec<String>>,
    pub access: Access,
    /// Bytes. None: unlimited.
    pub body_limit: Option<i64>,
    pub identity: bool,
    pub cache: bool,
    pub cache_ttl_ms: i64,
    pub cors: Vec<String>,
    pub off: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Key,
    Public,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Partner {
    pub name: String,
    pub plan: String,
    pub suspended: bool,
}

/// In the order in which they are declared and created: none refers to a later one, but plans, which name routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Upstream,
    Plan,
    Route,
    Partner,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Upstream, Kind::Plan, Kind::Route, Kind::Partner];

    /// As in the file and as the table is called.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Upstream => "upstream",
            Kind::Plan => "plan",
            Kind::Route => "route",
            Kind::Partner => "partner",
        }
    }

    /// The key that holds the name.
    pub fn name_key(self) -> &'static str {
        match self {
            Kind::Partner => "slug",
            Kind::Upstream | Kind::Plan | Kind::Route => "name",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<Kind> for What {
    fn from(kind: Kind) -> What {
        match kind {
            Kind::Upstream => What::Upstream,
            Kind::Plan => What::Plan,
            Kind::Route => What::Route,
            Kind::Partner => What::Partner,
        }
    }
}

impl Access {
    pub fn word(self) -> &'static str {
        match self {
            Access::Key => "key",
            Access::Public => "public",
        }
    }
}

impl Default for Breaker {
    fn default() -> Breaker {
        Breaker { failures: 5, window_ms: 10_000, open_ms: 5_000, max_in_flight: 1000 }
    }
}
