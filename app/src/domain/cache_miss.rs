//! Why the cache did not answer a request that passed it.

use serde::{Deserialize, Serialize};

/// The discriminant is what journal and database keep; 0 stands for "the cache answered, or was not asked".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(i16)]
pub enum CacheMiss {
    /// The route does not cache.
    Off = 1,
    /// The method or a request directive goes past the cache (RFC 9111 §4, §5.2.1).
    Bypass = 2,
    /// Nothing is stored under this URI.
    First = 3,
    /// Something is stored, but for other request headers (RFC 9111 §4.1).
    Vary = 4,
    /// What is stored is no longer fresh.
    Stale = 5,
    /// Nothing is stored under this URI, and the answer might not be either (RFC 9111 §3): asking again changes nothing.
    Unstorable = 6,
}

impl CacheMiss {
    pub const ALL: [CacheMiss; 6] = [
        CacheMiss::Off,
        CacheMiss::Bypass,
        CacheMiss::First,
        CacheMiss::Vary,
        CacheMiss::Stale,
        CacheMiss::Unstorable,
    ];

    pub fn code(self) -> i16 {
        self as i16
    }

    pub fn from_code(code: i16) -> Option<CacheMiss> {
        CacheMiss::ALL.into_iter().find(|miss| miss.code() == code)
    }

    /// For people: "asked for the first time".
    pub fn words(self) -> &'static str {
        match self {
            CacheMiss::Off => "route without cache",
            CacheMiss::Bypass => "request goes past the cache",
            CacheMiss::First => "asked for the first time",
            CacheMiss::Vary => "stored for other request headers",
            CacheMiss::Stale => "no longer fresh",
            CacheMiss::Unstorable => "answer may not be stored",
        }
    }
}
