//! An API key as people see it: everything but the key itself.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

/// From when on a key that will expire is worth a word.
const SOON: Duration = Duration::days(7);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    pub id: i64,
    /// The partner's slug.
    pub partner: String,
    pub name: String,
    /// The first ten characters.
    pub start: String,
    pub state: KeyState,
    /// Names of the routes that it is limited to. None: all of the partner's plan.
    pub routes: Option<Vec<String>>,
    #[serde(with = "time::serde::rfc3339")]
    pub created_at: OffsetDateTime,
    #[serde(with = "time::serde::rfc3339::option")]
    pub expires_at: Option<OffsetDateTime>,
    /// In the future while a rotated key is still honoured.
    #[serde(with = "time::serde::rfc3339::option")]
    pub revoked_at: Option<OffsetDateTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    Active,
    /// Honoured, and within seven days of its end.
    Expiring,
    /// Honoured until the overlap with its successor is over.
    Rotating,
    Expired,
    Revoked,
}

impl KeyState {
    /// At `now`. Of two ends the earlier one tells.
    pub fn at(
        now: OffsetDateTime,
        expires: Option<OffsetDateTime>,
        revoked: Option<OffsetDateTime>,
    ) -> KeyState {
        let over = |at: Option<OffsetDateTime>| at.filter(|at| *at <= now);
        match (over(expires), over(revoked)) {
            (Some(expired), Some(revoked)) if expired < revoked => KeyState::Expired,
            (_, Some(_)) => KeyState::Revoked,
            (Some(_), None) => KeyState::Expired,
            (None, None) if revoked.is_some() => KeyState::Rotating,
            (None, None) if expires.is_some_and(|at| at - now <= SOON) => KeyState::Expiring,
            (None, None) => KeyState::Active,
        }
    }

    /// Whether the gateway lets it in.
    pub fn is_honoured(self) -> bool {
        matches!(self, KeyState::Active | KeyState::Expiring | KeyState::Rotating)
    }

    pub fn word(self) -> &'static str {
        match self {
            KeyState::Active => "active",
            KeyState::Expiring => "expiring",
            KeyState::Rotating => "rotating",
            KeyState::Expired => "expired",
            KeyState::Revoked => "revoked",
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_key_is_in_the_state_that_the_gateway_would_find_it_in() {
        let now = datetime!(2026-01-10 12:00 UTC);
        let (past, longer_past) =
            (Some(datetime!(2026-01-09 12:00 UTC)), Some(datetime!(2026-01-08 12:00 UTC)));
        let (soon, late) = (Some(datetime!(2026-01-17 12:00 UTC)), Some(datetime!(2026-01-17 12:01 UTC)));
        for (expires, revoked, state) in [
            (None, None, KeyState::Active),
            (late, None, KeyState::Active),
            (soon, None, KeyState::Expiring),
            (soon, late, KeyState::Rotating),
            (None, soon, KeyState::Rotating),
            (past, None, KeyState::Expired),
            (Some(now), None, KeyState::Expired),
            (past, soon, KeyState::Expired),
            (longer_past, past, KeyState::Expired),
            (past, longer_past, KeyState::Revoked),
            (soon, past, KeyState::Revoked),
            (None, Some(now), KeyState::Revoked),
        ] {
            assert_eq!(
                KeyState::at(now, expires, revoked),
                state,
                "expires {expires:?}, revoked {revoked:?}"
            );
        }
    }
}
