//! Every way in which a request can end, with its stage, status and fault.

use serde::{Deserialize, Serialize};

use super::stage::Stage;

/// Who has to act when a request ends like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fault {
    /// Nobody: the request was served.
    Nobody,
    Caller,
    Upstream,
    /// Toll's own.
    Toll,
}

/// Where an outcome can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    At(Stage),
    /// Known by the head at the route stage, or found out with the body at the proxy stage.
    RouteOrProxy,
    Anywhere,
}

/// One line an outcome: variant = code, name, where, status (0: the upstream's own), fault, title.
macro_rules! outcomes {
    ($($variant:ident = $code:literal, $name:literal, $where:expr, $status:literal, $fault:ident, $title:literal;)+) => {
        /// How a request ended. The discriminant is what journal and database keep, so a number is never used again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        #[repr(i16)]
        pub enum Outcome { $($variant = $code,)+ }

        impl Outcome {
            pub const ALL: &'static [Outcome] = &[$(Outcome::$variant,)+];

            pub fn name(self) -> &'static str {
                match self { $(Outcome::$variant => $name,)+ }
            }

            /// A short name for people: the `title` of a problem body, the reason in a funnel.
            pub fn title(self) -> &'static str {
                match self { $(Outcome::$variant => $title,)+ }
            }

            pub fn place(self) -> Where {
                #[allow(unused_imports)]
                use Stage::*;
                use Where::*;
                match self { $(Outcome::$variant => $where,)+ }
            }

            /// The status that a client gets; 0 where the upstream's own or the stored one is passed on.
            pub fn status(self) -> u16 {
                match self { $(Outcome::$variant => $status,)+ }
            }

            pub fn fault(self) -> Fault {
                match self { $(Outcome::$variant => Fault::$fault,)+ }
            }

            pub fn from_code(code: i16) -> Option<Outcome> {
                match code { $($code => Some(Outcome::$variant),)+ _ => None }
            }

            pub fn from_name(name: &str) -> Option<Outcome> {
                match name { $($name => Some(Outcome::$variant),)+ _ => None }
            }
        }
    };
}

outcomes! {
    NoRoute = 1, "no_route", At(Route), 404, Caller, "No such route";
    RouteOff = 2, "route_off", At(Route), 503, Caller, "Route switched off";
    MethodNotAllowed = 3, "method_not_allowed", At(Route), 405, Caller, "Method not allowed";
    BadPath = 4, "bad_path", At(Route), 400, Caller, "Path not acceptable";
    BadRequest = 5, "bad_request", RouteOrProxy, 400, Caller, "Malformed request";
    BodyTooLarge = 6, "body_too_large", RouteOrProxy, 413, Caller, "Body too large";
    Preflight = 7, "preflight", At(Route), 204, Nobody, "CORS preflight answered";
    LoopDetected = 8, "loop_detected", At(Route), 508, Caller, "Loop detected";
    BooksFull = 9, "books_full", At(Route), 503, Toll, "Ledger full";

    KeyMissing = 20, "key_missing", At(Key), 401, Caller, "Key missing";
    KeyMalformed = 21, "key_malformed", At(Key), 401, Caller, "Key malformed";
    KeyUnknown = 22, "key_unknown", At(Key), 401, Caller, "Key unknown";
    KeyRevoked = 23, "key_revoked", At(Key), 401, Caller, "Key revoked";
    KeyExpired = 24, "key_expired", At(Key), 401, Caller, "Key expired";
    KeyNotAllowed = 25, "key_not_allowed", At(Key), 403, Caller, "Key not allowed here";
    PartnerSuspended = 26, "partner_suspended", At(Key), 403, Caller, "Partner suspended";
    KeyUnverifiable = 27, "key_unverifiable", At(Key), 503, Toll, "Key cannot be verified now";

    QuotaSpent = 40, "quota_spent", At(Quota), 429, Caller, "Quota spent";
    QuotaEarlyRetry = 41, "quota_early_retry", At(Quota), 429, Caller, "Retried too early";
    QuotaUnavailable = 42, "quota_unavailable", At(Quota), 503, Toll, "Quota cannot be checked now";

    CacheHit = 60, "cache_hit", At(Cache), 0, Nobody, "Served from cache";
    CacheNotModified = 61, "cache_not_modified", At(Cache), 304, Nobody, "Not modified";
    CacheStale = 62, "cache_stale", At(Cache), 0, Nobody, "Served stale";
    CacheCollapsed = 63, "cache_collapsed", At(Cache), 0, Nobody, "Shared another's fetch";
    CacheOnly = 64, "cache_only", At(Cache), 504, Caller, "Not in cache";

    BreakerOpen = 80, "breaker_open", At(Breaker), 503, Upstream, "Breaker open";
    BreakerProbing = 81, "breaker_probing", At(Breaker), 503, Upstream, "Breaker probing";
    BreakerSaturated = 82, "breaker_saturated", At(Breaker), 503, Upstream, "Upstream saturated";

    RequestTimeout = 100, "request_timeout", At(Proxy), 408, Caller, "Request too slow";
    UpstreamUnreachable = 101, "upstream_unreachable", At(Proxy), 502, Upstream, "Upstream unreachable";
    Forwarded = 102, "forwarded", At(Proxy), 0, Nobody, "Forwarded";
    Revalidated = 103, "revalidated", At(Proxy), 0, Nobody, "Revalidated";
    StaleOnError = 104, "stale_on_error", At(Proxy), 0, Upstream, "Stale on error";
    UpstreamTimeout = 105, "upstream_timeout", At(Proxy), 504, Upstream, "Upstream timed out";
    UpstreamBroken = 106, "upstream_broken", At(Proxy), 502, Upstream, "Upstream broke off";
    Upgraded = 107, "upgraded", At(Proxy), 101, Nobody, "Upgraded";

    ClientGone = 120, "client_gone", Anywhere, 499, Caller, "Client left";
    Internal = 121, "internal", Anywhere, 500, Toll, "Internal error";
    GatewayLost = 122, "gateway_lost", Anywhere, 0, Toll, "Lost with the gateway";
}

impl Outcome {
    /// Those by which the cache serves. Not: who was told to answer from the cache only and found nothing, a client that left.
    pub const FROM_CACHE: [Outcome; 4] =
        [Outcome::CacheHit, Outcome::CacheNotModified, Outcome::CacheStale, Outcome::CacheCollapsed];

    pub fn code(self) -> i16 {
        self as i16
    }

    /// Whether a request may end like this at `stage`.
    pub fn belongs_to(self, stage: Stage) -> bool {
        match self.place() {
            Where::At(place) => place == stage,
            Where::RouteOrProxy => matches!(stage, Stage::Route | Stage::Proxy),
            Where::Anywhere => true,
        }
    }
}

impl From<Outcome> for &'static str {
    fn from(outcome: Outcome) -> Self {
        outcome.name()
    }
}

impl TryFrom<String> for Outcome {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Outcome::from_name(&name).ok_or_else(|| format!("no outcome is called {name:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back_to_their_outcome() {
        for outcome in Outcome::ALL.iter().copied() {
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
            assert_eq!(Outcome::from_name(outcome.name()), Some(outcome));
        }
    }

    #[test]
    fn a_refusal_names_the_status_of_the_contract() {
        assert_eq!(Outcome::LoopDetected.status(), 508);
        assert_eq!(Outcome::QuotaEarlyRetry.status(), 429);
        assert_eq!(Outcome::BreakerProbing.status(), 503);
        assert_eq!(Outcome::UpstreamTimeout.status(), 504);
    }

    #[test]
    fn body_too_large_belongs_to_route_and_proxy_and_client_gone_to_every_stage() {
        let stages = |outcome: Outcome| Stage::ALL.into_iter().filter(|s| outcome.belongs_to(*s)).count();
        assert_eq!(stages(Outcome::BodyTooLarge), 2);
        assert_eq!(stages(Outcome::ClientGone), 6);
        assert_eq!(stages(Outcome::NoRoute), 1);
    }
}
