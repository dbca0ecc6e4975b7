//! What verdicts are computed from: counts of a window, and of the window of the same length before it.

use time::OffsetDateTime;

pub use super::habit::Habit;
pub use super::tally::{Answers, Compared, Tally};
use crate::domain::cache_miss::CacheMiss;
use crate::domain::moment::{self, Dated};
use crate::domain::span::Span;
use crate::domain::window::Window;

/// Whose verdicts. A partner's evidence holds that partner's own requests and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Ops,
    /// By id.
    Partner(i64),
}

impl Who {
    /// None: everybody.
    pub fn partner(self) -> Option<i64> {
        match self {
            Who::Ops => None,
            Who::Partner(partner) => Some(partner),
        }
    }
}

/// Plain data; `crate::evidence::read` fills it. What no rule could speak about may be left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub who: Who,
    pub window: Window,
    /// How links name the window. `read` freezes it; a screen whose window moves with the clock says so here.
    pub span: Span,
    /// With how much of a date moments are told at least.
    pub dated: Dated,
    /// The window's end, or the present if that comes first.
    pub until: OffsetDateTime,
    /// The first minute or hour of which the books tell, if there is one; read for operators, who are told of rises.
    pub begun: Option<OffsetDateTime>,
    /// All requests, those without a route too.
    pub all: Compared<Tally>,
    pub routes: Vec<RouteEvidence>,
    /// Partners with the most early retries; for operators.
    pub suspects: Vec<Suspect>,
    /// Partners with more requests past quota than before; read where arrivals rose, for operators.
    pub grown: Vec<Grown>,
    pub upstreams: Vec<UpstreamEvidence>,
    pub ended_keys: Vec<EndedKey>,
    /// The partner's slug, where an operator is told of it what it is told itself.
    pub about: Option<String>,
    /// How a partner's own early retries came, for its own screens.
    pub habit: Option<Habit>,
    /// When the partner's plan last became another, or its terms others; for its own screens.
    pub plan_changed: Option<OffsetDateTime>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteEvidence {
    pub name: String,
    pub upstream: String,
    /// In the catalog and switched on.
    pub is_open: bool,
    pub has_cache: bool,
    pub tally: Compared<Tally>,
    /// Why the cache did not answer.
    pub misses: Vec<(CacheMiss, u64)>,
    /// How often all or a part of it was forgotten on an operator's word.
    pub purges: u64,
    /// What its upstream made of it, oldest first, without the times in which nothing was asked; read where that failed.
    pub slots: Vec<Slot>,
}

/// A partner that came back before its time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suspect {
    pub slug: String,
    pub early: Compared<u64>,
    /// The end of the minute, hour or day of its last early retry, if that is not the present.
    pub until: Option<OffsetDateTime>,
    /// Refused as first attempts.
    pub spent: u64,
    /// Requests past quota, and those of them that an upstream failed, or that its breaker held back.
    pub passed: u64,
    pub faults: u64,
    pub habit: Option<Habit>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grown {
    pub slug: String,
    /// Requests past quota.
    pub passed: Compared<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpstreamEvidence {
    pub name: String,
    /// The last time that its breaker was open, if that touches the window.
    pub outage: Option<Outage>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    pub since: OffsetDateTime,
    /// None while it is open, probes included.
    pub until: Option<OffsetDateTime>,
    /// How often the breaker was open in the window; 1 if it was open all along.
    pub times: u64,
    /// When it was open for the first of these times.
    pub first: OffsetDateTime,
    /// As the breaker noted it: "5 timeouts in 10 s".
    pub reason: String,
    /// What opened it, these times.
    pub opened_by: OpenedBy,
    /// Whether a probe has reached the upstream since.
    pub was_probed: bool,
    /// Requests held back in the window since `first`, and how many partners' they were.
    pub held: u64,
    pub partners: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenedBy {
    Failures,
    /// An operator.
    Hand,
    /// One time the one, another time the other: which of them `reason` is of.
    Both {
        noted_by_hand: bool,
    },
}

/// What became of a minute's, hour's or day's requests for an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub at: OffsetDateTime,
    pub to: OffsetDateTime,
    pub answers: Answers,
}

/// A key that had ended and was still used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedKey {
    pub id: i64,
    pub partner: String,
    pub ended: Ending,
    pub ended_at: OffsetDateTime,
    /// Refused calls in the window.
    pub calls: u64,
    /// Calls of each minute from the first to the last with any, in the last hour of the window. Empty if it has none, or
    /// none of late.
    pub by_minute: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Revoked,
    Expired,
}

impl Evidence {
    /// Nothing known yet about this window.
    pub fn new(who: Who, window: Window, until: OffsetDateTime) -> Evidence {
        Evidence {
            who,
            window,
            span: Span::Between(window),
            dated: Dated::of_window(window, false),
            until: until.min(window.to),
            begun: None,
            all: Compared::default(),
            routes: Vec::new(),
            suspects: Vec::new(),
            grown: Vec::new(),
            upstreams: Vec::new(),
            ended_keys: Vec::new(),
            habit: None,
            plan_changed: None,
            about: None,
        }
    }

    /// "you", or who is spoken of.
    pub fn you(&self) -> &str {
        self.about.as_deref().unwrap_or("you")
    }

    /// "you have", or who has.
    pub fn you_have(&self) -> String {
        let have = if self.about.is_some() { "has" } else { "have" };
        format!("{} {have}", self.you())
    }

    /// "your", or whose it is.
    pub fn your(&self) -> String {
        self.about.as_ref().map_or_else(|| "your".to_owned(), |slug| format!("{slug}’s"))
    }

    /// Whether what was last seen by then has not been seen for a while.
    pub fn is_past(&self, last: OffsetDateTime) -> bool {
        moment::is_past(last, self.until)
    }

    /// For a page with this span: its links name the window as it does, and a still tells the year.
    pub fn shown_in(self, span: Span) -> Evidence {
        Evidence { span, dated: span.dated(self.window), ..self }
    }

    /// "14:02:11", with as much of its date as the window asks for, or as it takes.
    pub fn second(&self, at: OffsetDateTime) -> String {
        self.dated.enough(at, self.until).second(at)
    }

    /// "14:02"
    pub fn minute(&self, at: OffsetDateTime) -> String {
        self.dated.enough(at, self.until).minute(at)
    }

    /// "since 14:20", "from 14:20 to 14:35"
    pub fn stretch(&self, from: OffsetDateTime, to: Option<OffsetDateTime>, by_day: bool) -> String {
        let dated = self.dated.enough(from, self.until).enough(to.unwrap_or(from), self.until);
        dated.stretch(from, to, by_day)
    }

    /// The routes to an upstream.
    pub fn routes_to<'a>(&'a self, upstream: &str) -> impl Iterator<Item = &'a RouteEvidence> + Clone {
        self.routes.iter().filter(move |route| route.upstream == upstream)
    }

    /// What they got.
    pub fn asked_of(&self, upstream: &str) -> Compared<Tally> {
        let mut sum = Compared::<Tally>::default();
        for route in self.routes_to(upstream) {
            sum.now.merge(&route.tally.now);
            sum.before.merge(&route.tally.before);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn moments_of_a_long_window_have_their_day_and_those_of_a_still_their_year() {
        let now = datetime!(2026-11-29 14:50:30 UTC);
        let at = datetime!(2026-11-29 14:02:11 UTC);
        let last = |length| {
            let span = Span::Last(length);
            Evidence::new(Who::Ops, span.window(now), now).shown_in(span)
        };
        assert_eq!(last(Duration::HOUR).second(at), "14:02:11");
        assert_eq!(last(Duration::WEEK).second(at), "29 November, 14:02:11");
        assert_eq!(last(Duration::WEEK).stretch(at, None, false), "since 29 November, 14:02");
        let hour = last(Duration::HOUR);
        let still = Span::Between(hour.window);
        assert_eq!(hour.shown_in(still).minute(at), "29 November 2026, 14:02");
    }
}
