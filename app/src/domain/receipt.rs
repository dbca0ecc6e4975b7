//! What became of one request, told stage by stage.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::cache_miss::CacheMiss;
use super::moment::{Dated, date, wait};
use super::numbers::{count, grouped, tenths};
use super::outcome::Outcome;
use super::quota;
use super::stage::Stage;

/// A row of the log, with the names that the catalog has for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    pub id: Uuid,
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    pub stage: Stage,
    pub outcome: Outcome,
    /// Whether the upstream had the request.
    pub reached: bool,
    /// The client's status; 0 if it never got one.
    pub status: u16,
    /// 0: none.
    pub upstream_status: u16,
    pub cache_miss: Option<CacheMiss>,
    pub method: String,
    /// Without the query.
    pub path: String,
    pub request_id: String,
    pub address: String,
    pub user_agent: String,
    /// Which of the upstream's urls was asked; empty if none was, or if it is not for this reader.
    pub target: String,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub duration_us: i64,
    /// Microseconds by stage, route first.
    pub stage_us: [i64; 6],
    pub tokens_before: Option<f64>,
    pub tokens_after: Option<f64>,
    /// Milliseconds that the refusal asked to wait, and that an early retry had waited.
    pub asked_ms: Option<i64>,
    pub waited_ms: Option<i64>,
    pub metered_locally: bool,
    pub upstream_calls: u16,
    /// The partner's slug.
    pub partner: Option<String>,
    pub route: Option<RouteTerms>,
    pub key: Option<KeyTerms>,
    pub plan: Option<PlanTerms>,
    /// Of a request that an open breaker held back, as far as its events are kept.
    pub opening: Option<Opening>,
}

/// What the catalog says of the route now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(sqlx::FromRow))]
pub struct RouteTerms {
    #[cfg_attr(feature = "ssr", sqlx(rename = "route"))]
    pub name: String,
    pub is_public: bool,
    /// Absent: all.
    pub methods: Option<Vec<String>>,
    /// Bytes; absent: unlimited.
    pub body_limit: Option<i64>,
    pub timeout_ms: i64,
    pub breaker_failures: i32,
    pub breaker_window_ms: i64,
    pub breaker_open_ms: i64,
}

/// How the breaker that held a request back had opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
    /// Whether an operator did it.
    pub is_by_hand: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(sqlx::FromRow))]
pub struct KeyTerms {
    #[cfg_attr(feature = "ssr", sqlx(rename = "key"))]
    pub name: String,
    pub start: String,
    /// Absent: all of its plan.
    #[cfg_attr(feature = "ssr", sqlx(rename = "key_routes"))]
    pub routes: Option<Vec<String>>,
    #[serde(with = "time::serde::rfc3339::option")]
    pub expires_at: Option<OffsetDateTime>,
    #[serde(with = "time::serde::rfc3339::option")]
    pub revoked_at: Option<OffsetDateTime>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ssr", derive(sqlx::FromRow))]
pub struct PlanTerms {
    #[cfg_attr(feature = "ssr", sqlx(rename = "plan"))]
    pub name: String,
    #[cfg_attr(feature = "ssr", sqlx(try_from = "i32"))]
    pub capacity: u32,
    pub refill_per_second: f64,
}

/// How far a request came at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Passed,
    /// This stage answered.
    Answered,
    NotAsked,
}

/// One stage of the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub stage: Stage,
    pub progress: Progress,
    pub note: String,
    /// Microseconds; absent where nothing was asked.
    pub micros: Option<i64>,
}

impl Receipt {
    /// The six stages, with the one that answered marked.
    pub fn steps(&self) -> Vec<Step> {
        let step = |stage: Stage| {
            let progress = match stage.cmp(&self.stage) {
                std::cmp::Ordering::Less => Progress::Passed,
                std::cmp::Ordering::Equal => Progress::Answered,
                std::cmp::Ordering::Greater => Progress::NotAsked,
            };
            let note = match progress {
                Progress::Passed => self.passed(stage),
                Progress::Answered => self.answered(),
                Progress::NotAsked => "not asked".into(),
            };
            let micros = (progress != Progress::NotAsked).then(|| self.stage_us[stage.index()]);
            Step { stage, progress, note, micros }
        };
        Stage::ALL.into_iter().map(step).collect()
    }

    fn passed(&self, stage: Stage) -> String {
        let is_public = self.route.as_ref().is_some_and(|route| route.is_public);
        match stage {
            Stage::Route => self.route.as_ref().map_or_else(String::new, |route| route.name.clone()),
            Stage::Key if is_public => "none needed".into(),
            Stage::Key => self.key.as_ref().map_or_else(String::new, |key| key.name.clone()),
            Stage::Quota if self.tokens_after.is_none() => "no quota".into(),
            Stage::Quota => format!("{} left", self.tokens_after.map_or(String::new(), tokens)),
            Stage::Cache => self.cache_miss.map_or("passed".into(), |miss| miss.words().to_owned()),
            Stage::Breaker => "let through".into(),
            Stage::Proxy => "sent".into(),
        }
    }

    fn answered(&self) -> String {
        match (self.outcome, self.upstream_status) {
            (Outcome::Forwarded, status) if status > 0 => format!("answered {status}"),
            (outcome, _) => super::numbers::lower_first(outcome.title()),
        }
    }

    /// "429, come back in 9 s".
    pub fn answer(&self) -> String {
        let mut words = match self.status {
            0 => "none: the request was lost".to_owned(),
            499 => "none: the client had left".to_owned(),
            status => status.to_string(),
        };
        if let Some(asked) = self.asked_ms {
            words += &format!(", come back in {}", wait(asked));
        }
        words
    }

    /// The bucket before and after.
    pub fn bucket(&self) -> Option<String> {
        let (before, after) = (self.tokens_before?, self.tokens_after?);
        let of =
            self.plan.as_ref().map_or(String::new(), |plan| format!(" of {}", grouped(plan.capacity.into())));
        let mut words = match self.stage == Stage::Quota {
            true => format!("{}{of} before and after; a refusal costs nothing", tokens(before)),
            false => format!("{}{of} before, {} after", tokens(before), tokens(after)),
        };
        if self.metered_locally {
            words += "; metered by the node alone, while the database was away";
        }
        Some(words)
    }

    /// Why it ended where it did: the rule that decided, with its numbers as far as the catalog still has them.
    pub fn rule(&self) -> String {
        let means = || self.outcome.advice().means.to_owned();
        self.exact_rule().unwrap_or_else(means)
    }

    fn exact_rule(&self) -> Option<String> {
        let (route, key, plan) = (self.route.as_ref(), self.key.as_ref(), self.plan.as_ref());
        Some(match self.outcome {
            Outcome::MethodNotAllowed => {
                let route = route?;
                let methods = route.methods.as_ref()?.join(", ");
                format!("{} takes {methods}; this was {}.", route.name, self.method)
            }
            Outcome::BodyTooLarge => {
                format!("{} takes bodies of up to {}.", route?.name, count(route?.body_limit? as u64, "byte"))
            }
            Outcome::KeyRevoked => format!("{} was revoked on {}.", key?.full(), date(key?.revoked_at?)),
            Outcome::KeyExpired => format!("{} expired on {}.", key?.full(), date(key?.expires_at?)),
            Outcome::KeyNotAllowed => match &key?.routes {
                Some(routes) if !routes.contains(&route?.name) => {
                    format!("{} opens {} only; this is {}.", key?.full(), routes.join(", "), route?.name)
                }
                _ => format!("The plan {} does not open {}.", plan?.name, route?.name),
            },
            Outcome::QuotaSpent | Outcome::QuotaEarlyRetry => {
                let terms = quota::terms(plan?.capacity, plan?.refill_per_second);
                let held = tokens(self.tokens_before?);
                let early = match (self.outcome, self.waited_ms) {
                    (Outcome::QuotaEarlyRetry, Some(waited)) => {
                        let waited = wait(waited);
                        format!(
                            " The key’s last refusal was {waited} before, and the wait that it asked for was not over."
                        )
                    }
                    _ => String::new(),
                };
                format!("Plan {}: {terms}. The bucket held {held}, and a request takes 1.{early}", plan?.name)
            }
            Outcome::BreakerOpen => {
                let route = route?;
                let was_open = match &self.opening {
                    Some(Opening { at, .. }) => {
                        format!("had been open since {}", Dated::of(*at, self.at).second(*at))
                    }
                    None => "was open".to_owned(),
                };
                let why = match &self.opening {
                    Some(opening) if opening.is_by_hand => "an operator had opened it".to_owned(),
                    _ => format!(
                        "it opens after {} within {}, and stays open for {}",
                        count(route.breaker_failures as u64, "failure"),
                        wait(route.breaker_window_ms),
                        wait(route.breaker_open_ms)
                    ),
                };
                format!("The breaker {was_open}: {why}.")
            }
            Outcome::UpstreamTimeout => {
                format!(
                    "The service behind {} has {} to begin its answer, and did not.",
                    route?.name,
                    wait(route?.timeout_ms)
                )
            }
            _ => return None,
        })
    }
}

impl KeyTerms {
    /// "The key Production (toll_9fK2…)".
    fn full(&self) -> String {
        format!("The key {} ({}…)", self.name, self.start)
    }
}

/// Tokens, with one decimal where there is one; cut, not rounded, since 0.98 of a token is not enough for a request.
fn tokens(n: f64) -> String {
    tenths(((n + 1e-9) * 10.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    fn refused() -> Receipt {
        Receipt {
            id: Uuid::nil(),
            at: datetime!(2026-11-29 14:03 UTC),
            stage: Stage::Quota,
            outcome: Outcome::QuotaEarlyRetry,
            reached: false,
            status: 429,
            upstream_status: 0,
            cache_miss: None,
            method: "GET".into(),
            path: "/api/orders".into(),
            request_id: "r".into(),
            address: "127.0.0.1".into(),
            user_agent: "curl".into(),
            target: String::new(),
            bytes_in: 0,
            bytes_out: 100,
            duration_us: 600,
            stage_us: [10, 40, 400, 0, 0, 0],
            tokens_before: Some(0.2),
            tokens_after: Some(0.2),
            asked_ms: Some(9_000),
            waited_ms: Some(80),
            metered_locally: false,
            upstream_calls: 0,
            partner: Some("acme".into()),
            route: Some(RouteTerms {
                name: "orders".into(),
                is_public: false,
                methods: None,
                body_limit: None,
                timeout_ms: 10_000,
                breaker_failures: 5,
                breaker_window_ms: 10_000,
                breaker_open_ms: 5_000,
            }),
            key: Some(KeyTerms {
                name: "Production".into(),
                start: "toll_9fK2x".into(),
                routes: None,
                expires_at: None,
                revoked_at: None,
            }),
            plan: Some(PlanTerms { name: "free".into(), capacity: 60, refill_per_second: 1.0 }),
            opening: None,
        }
    }

    #[test]
    fn a_refusal_names_the_stage_the_rule_and_the_wait() {
        assert_eq!([0.98, 0.2, 59.0].map(tokens), ["0.9", "0.2", "59"]);
        let receipt = refused();
        let notes: Vec<_> = receipt.steps().into_iter().map(|step| (step.progress, step.note)).collect();
        assert_eq!(notes[0], (Progress::Passed, "orders".into()));
        assert_eq!(notes[1], (Progress::Passed, "Production".into()));
        assert_eq!(notes[2], (Progress::Answered, "retried too early".into()));
        assert_eq!(notes[5], (Progress::NotAsked, "not asked".into()));
        assert_eq!(receipt.answer(), "429, come back in 9 s");
        assert_eq!(receipt.bucket().as_deref(), Some("0.2 of 60 before and after; a refusal costs nothing"));
        assert_eq!(
            receipt.rule(),
            "Plan free: 60 at once, one more each second. The bucket held 0.2, and a request takes 1. \
             The key’s last refusal was 80 ms before, and the wait that it asked for was not over."
        );
    }

    #[test]
    fn an_open_breaker_tells_when_and_by_whom_it_was_opened() {
        let held_back = |opening| {
            Receipt { stage: Stage::Breaker, outcome: Outcome::BreakerOpen, opening, ..refused() }.rule()
        };
        let at = datetime!(2026-11-29 14:02:11 UTC);
        assert_eq!(
            held_back(Some(Opening { at, is_by_hand: false })),
            "The breaker had been open since 14:02:11: it opens after 5 failures within 10 s, and stays open for 5 s."
        );
        assert_eq!(
            held_back(Some(Opening { at, is_by_hand: true })),
            "The breaker had been open since 14:02:11: an operator had opened it."
        );
        assert!(held_back(None).starts_with("The breaker was open: it opens after 5 failures"));
    }

    #[test]
    fn what_the_upstream_answered_ends_at_the_proxy() {
        let receipt = Receipt {
            stage: Stage::Proxy,
            outcome: Outcome::Forwarded,
            reached: true,
            status: 200,
            upstream_status: 200,
            cache_miss: Some(CacheMiss::First),
            tokens_before: Some(60.0),
            tokens_after: Some(59.0),
            asked_ms: None,
            waited_ms: None,
            ..refused()
        };
        let notes: Vec<_> = receipt.steps().into_iter().map(|step| step.note).collect();
        assert_eq!(
            notes,
            ["orders", "Production", "59 left", "asked for the first time", "let through", "answered 200"]
        );
        assert_eq!(receipt.bucket().as_deref(), Some("60 of 60 before, 59 after"));
    }
}
