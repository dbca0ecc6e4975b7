//! What each outcome means to the one who called, and what to do about it.

use super::outcome::{Fault, Outcome};

/// Two sentences for a partner's developer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    pub means: &'static str,
    pub mend: &'static str,
}

const NOTHING_TO_MEND: &str = "Nothing: this is an answer.";
const OUR_FAULT: &str = "Nothing is wrong on your side. Try again after the Retry-After.";
const MAY_HAVE_HAPPENED: &str = "It may have been carried out: repeat only what may be done twice.";

impl Outcome {
    pub fn advice(self) -> Advice {
        let (means, mend) = match self {
            Outcome::NoRoute => {
                ("No route answers this path.", "Compare the path with your routes; it begins with /api.")
            }
            Outcome::RouteOff => (
                "The operator has switched this route off.",
                "Try again later, or ask the operator when it is back.",
            ),
            Outcome::MethodNotAllowed => {
                ("The route does not take this method.", "Use one that the answer's Allow header names.")
            }
            Outcome::BadPath => (
                "The path has “..” in it, a backslash, or characters that a path may not hold.",
                "Percent-encode the path, and send no “..”.",
            ),
            Outcome::BadRequest => (
                "The head of the request is malformed.",
                "Send one valid Host, and one Content-Length or Transfer-Encoding; every common client does.",
            ),
            Outcome::BodyTooLarge => ("The body is longer than the route takes.", "Send less at once."),
            Outcome::Preflight => {
                ("The browser's question whether it may call was answered.", NOTHING_TO_MEND)
            }
            Outcome::LoopDetected => (
                "The request has been through this gateway before.",
                "Some proxy on the way sends it back here: look at where it points.",
            ),
            Outcome::BooksFull => {
                ("Toll could not write the request down, so it let nothing through.", OUR_FAULT)
            }
            Outcome::KeyMissing => (
                "No key came with the request.",
                "Send it in the X-Api-Key header, or as Authorization: Bearer.",
            ),
            Outcome::KeyMalformed => (
                "What came is no key: its length, its characters or its checksum are wrong.",
                "Copy the key again, whole and without spaces.",
            ),
            Outcome::KeyUnknown => (
                "It looks like a key, but this gateway does not know it.",
                "Is it a key for another environment? Otherwise make a new one.",
            ),
            Outcome::KeyRevoked => (
                "The key was revoked, or the overlap after its rotation is over.",
                "Use the key that took its place, or make a new one.",
            ),
            Outcome::KeyExpired => {
                ("The key's time is over.", "Make a new one; rotate the next one before it expires.")
            }
            Outcome::KeyNotAllowed => (
                "Neither this key nor your plan opens this route.",
                "Call one of the routes listed for you, or ask the operator for another plan.",
            ),
            Outcome::PartnerSuspended => {
                ("The account was suspended when the request came.", "Ask the operator why.")
            }
            Outcome::KeyUnverifiable => ("The key could not be looked up at the moment.", OUR_FAULT),
            Outcome::QuotaSpent => (
                "Your bucket was empty.",
                "Wait as long as Retry-After says; then a request is served. If that happens often, spread your calls or ask for a larger plan.",
            ),
            Outcome::QuotaEarlyRetry => (
                "The same key came back before the Retry-After of its last refusal was over.",
                "Sleep for the whole Retry-After before you try again: whoever does not is served no more, and refused more often. Several programs that share the key and each wait need a larger plan.",
            ),
            Outcome::QuotaUnavailable => {
                ("Your bucket could not be read; nothing was taken from it.", OUR_FAULT)
            }
            Outcome::CacheHit => ("A stored answer was given.", NOTHING_TO_MEND),
            Outcome::CacheNotModified => ("What you have is still current.", NOTHING_TO_MEND),
            // A fresh one is fetched meanwhile, or cannot be while the breaker is open, or the client wanted none.
            Outcome::CacheStale => (
                "A stored answer past its lifetime was given, without waiting for the service behind the route.",
                NOTHING_TO_MEND,
            ),
            Outcome::CacheCollapsed => {
                ("Somebody else was fetching the same; you got that answer.", NOTHING_TO_MEND)
            }
            Outcome::CacheOnly => (
                "You asked for a stored answer only, and there is none.",
                "Leave “only-if-cached” out, and the upstream is asked.",
            ),
            Outcome::BreakerOpen => (
                "The service behind the route is left alone for a while: it kept failing, or the operator opened its breaker.",
                "Nothing is wrong with your request. Try again after the Retry-After.",
            ),
            Outcome::BreakerProbing => (
                "One request is finding out whether the service behind the route is back.",
                "Nothing is wrong with your request. Try again after the Retry-After.",
            ),
            Outcome::BreakerSaturated => (
                "The service behind the route has as many requests as it takes at once.",
                "Try again after the Retry-After.",
            ),
            Outcome::RequestTimeout => {
                ("Your request's body came too slowly.", "Send it faster, or less of it.")
            }
            Outcome::UpstreamUnreachable => (
                "The service behind the route could not be reached; your request was not sent.",
                "It is safe to try again.",
            ),
            Outcome::Forwarded => ("The service behind the route answered.", NOTHING_TO_MEND),
            Outcome::Revalidated => {
                ("The stored answer was confirmed as current, and given.", NOTHING_TO_MEND)
            }
            Outcome::StaleOnError => (
                "The service behind the route failed; an older stored answer was given.",
                "Nothing, but mind that the answer may be old.",
            ),
            Outcome::UpstreamTimeout => (
                "The service behind the route had your request and did not answer in time.",
                MAY_HAVE_HAPPENED,
            ),
            Outcome::UpstreamBroken => {
                ("The service behind the route broke off, or its answer was no HTTP.", MAY_HAVE_HAPPENED)
            }
            Outcome::Upgraded => ("The connection became another protocol's.", NOTHING_TO_MEND),
            Outcome::ClientGone => (
                "Your client left before it had the whole answer.",
                "If it gave up too early, give it a longer timeout.",
            ),
            Outcome::Internal => ("Something failed in Toll.", OUR_FAULT),
            Outcome::GatewayLost => {
                ("A node of the gateway went down with your request in it.", MAY_HAVE_HAPPENED)
            }
        };
        Advice { means, mend }
    }

    /// Who has to act, seen by the partner.
    pub fn who_acts(self) -> &'static str {
        match (self, self.fault()) {
            // Who opened it is told by the receipt.
            (Outcome::BreakerOpen, _) => "the service behind the route, or the operator",
            (_, Fault::Nobody) => "nobody",
            (_, Fault::Caller) => "you",
            (_, Fault::Upstream) => "the service behind the route",
            (_, Fault::Toll) => "Toll",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_served_leaves_nothing_to_mend() {
        for outcome in Outcome::ALL.iter().copied() {
            let nothing = outcome.advice().mend == NOTHING_TO_MEND;
            assert_eq!(nothing, outcome.fault() == Fault::Nobody, "{outcome:?}");
        }
    }
}
