//! Which requests are asked for, as the address of a page says it.

use std::fmt;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

use super::Place;
use super::filter::{Answer, Status};
use crate::domain::histogram::BOUNDS_MS;
use crate::domain::numbers::lower_first;
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;
use crate::error::Error;
use crate::widgets::address::Address;

/// All of it text, as people and links write it; what is absent does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    pub stage: Option<String>,
    pub outcome: Option<String>,
    /// Name of a route.
    pub route: Option<String>,
    /// Name of an upstream, for operators: of all routes that lead to it.
    pub upstream: Option<String>,
    /// Slug of a partner.
    pub partner: Option<String>,
    /// Id of a key.
    pub key: Option<String>,
    /// What the client got: `429` or `4xx`.
    pub status: Option<String>,
    /// What the upstream answered: `2xx` to `5xx`, `none`; or `any` for all that reached it, `unsent` for those that did not.
    pub answer: Option<String>,
    /// Upper bound of a latency bucket in milliseconds, or `over`.
    pub latency: Option<String>,
    /// Where an earlier page ended.
    pub before: Option<String>,
}

/// The parameters of an address that restrict, in the order of the form.
pub const NAMES: [&str; 9] =
    ["stage", "outcome", "route", "upstream", "partner", "key", "status", "answer", "latency"];

impl Asked {
    pub fn from_address(address: &Address) -> Asked {
        let text = |name| address.get(name).map(str::to_owned);
        Asked {
            stage: text("stage"),
            outcome: text("outcome"),
            route: text("route"),
            upstream: text("upstream"),
            partner: text("partner"),
            key: text("key"),
            status: text("status"),
            answer: text("answer"),
            latency: text("latency"),
            before: text("before"),
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let text = match name {
            "stage" => &self.stage,
            "outcome" => &self.outcome,
            "route" => &self.route,
            "upstream" => &self.upstream,
            "partner" => &self.partner,
            "key" => &self.key,
            "status" => &self.status,
            "answer" => &self.answer,
            "latency" => &self.latency,
            _ => &None,
        };
        text.as_deref().filter(|text| !text.is_empty())
    }

    /// Each restriction that there is: its parameter and value.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        NAMES.into_iter().filter_map(|name| Some((name, self.get(name)?)))
    }

    /// Each restriction: its parameter, and what it says to people.
    pub fn words(&self) -> Vec<(&'static str, String)> {
        self.given().map(|(name, text)| (name, words(name, text))).collect()
    }

    /// The first restriction whose text means nothing, and texts that would mean something there. What is merely not in the
    /// catalog is none of these.
    pub fn misread(&self) -> Option<(&'static str, &'static [&'static str])> {
        self.given().find_map(|(name, text)| {
            let (read, examples): (_, &[&str]) = match name {
                "stage" => (stage(text).is_ok(), &["key", "quota", "breaker"]),
                "outcome" => (outcome(text).is_ok(), &["no_route", "quota_spent", "breaker_open"]),
                "status" => (status(text).is_ok(), &["429", "4xx", "5xx"]),
                "answer" => (answer(text).is_ok(), &["2xx", "5xx", "none"]),
                "latency" => (latency(text).is_ok(), &["250", "1000", "over"]),
                _ => (true, &[]),
            };
            (!read).then_some((name, examples))
        })
    }

    pub(super) fn place(&self) -> Result<Option<Place>, Error> {
        let Some(text) = self.before.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
        text.parse().map(Some)
    }
}

fn words(name: &str, text: &str) -> String {
    match name {
        "stage" => format!("ended at the {text} stage"),
        "outcome" => Outcome::from_name(text).map_or_else(|| text.to_owned(), |o| lower_first(o.title())),
        "status" => format!("status {text}"),
        "answer" => match text {
            "any" => "reached the upstream".into(),
            "unsent" => "did not reach the upstream".into(),
            "none" => "the upstream gave no answer".into(),
            class => format!("the upstream answered {class}"),
        },
        "latency" if text == "over" => "took over 5,000 ms".into(),
        "latency" => format!("in the bucket up to {text} ms"),
        _ => format!("{name} {text}"),
    }
}

/// What the text of a restriction means, or what is wrong with it.
pub(super) fn stage(text: &str) -> Result<Stage, Error> {
    Stage::from_name(text).ok_or_else(|| Error::Invalid(format!("No stage is called {text:?}.")))
}

pub(super) fn outcome(text: &str) -> Result<Outcome, Error> {
    Outcome::from_name(text).ok_or_else(|| Error::Invalid(format!("No outcome is called {text:?}.")))
}

pub(super) fn status(text: &str) -> Result<Status, Error> {
    let wrong = || Error::Invalid(format!("{text:?} is no status: write 429, or 4xx."));
    match class(text) {
        Some(class) => Ok(Status::Class(class)),
        None => {
            text.parse().ok().filter(|code| (100..600).contains(code)).map(Status::Code).ok_or_else(wrong)
        }
    }
}

pub(super) fn answer(text: &str) -> Result<Answer, Error> {
    match text {
        "any" => Ok(Answer::Any),
        "unsent" => Ok(Answer::Unsent),
        "none" => Ok(Answer::Silent),
        other => class(other).map(Answer::Class).ok_or_else(|| {
            Error::Invalid(format!("{text:?} is no answer: write 2xx to 5xx, none, any or unsent."))
        }),
    }
}

/// A bucket, 0 to 8.
pub(super) fn latency(text: &str) -> Result<usize, Error> {
    let bound = || BOUNDS_MS.iter().position(|bound| bound.to_string() == text);
    let bucket = if text == "over" { Some(BOUNDS_MS.len()) } else { bound() };
    bucket.ok_or_else(|| {
        Error::Invalid(format!(
            "No latency bucket ends at {text:?} ms: write 5 to 5000 as in the histogram, or over."
        ))
    })
}

/// `4xx` as 4.
fn class(text: &str) -> Option<u8> {
    let digit = text.strip_suffix("xx")?.parse().ok()?;
    (1..6).contains(&digit).then_some(digit)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.unix_timestamp_nanos() / 1000, self.id.simple())
    }
}

impl std::str::FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Place, Error> {
        let parsed = || {
            let (micros, id) = text.split_once('.')?;
            let nanos = micros.parse::<i64>().ok()?;
            let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(nanos) * 1000).ok()?;
            Some(Place { at, id: Uuid::try_parse(id).ok()? })
        };
        parsed().ok_or_else(|| Error::Invalid("This link to older requests is broken.".into()))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_place_in_the_log_comes_back_from_its_link() {
        let place = Place { at: datetime!(2026-01-01 10:00:00.123456 UTC), id: Uuid::from_u128(7) };
        assert_eq!(place.to_string().parse(), Ok(place));
        for broken in ["", "1", "1.", ".1", "x.00000000000000000000000000000007"] {
            assert!(broken.parse::<Place>().is_err(), "{broken:?}");
        }
    }

    #[test]
    fn a_status_is_a_number_or_a_class() {
        assert_eq!(status("429"), Ok(Status::Code(429)));
        assert_eq!(status("4xx"), Ok(Status::Class(4)));
        for wrong in ["", "42", "xx", "6xx", "600", "4XX", "429 or 1=1"] {
            assert!(status(wrong).is_err(), "{wrong:?}");
        }
        let asked = |name: &str, text: &str| {
            let mut asked = Asked { stage: Some("quota".into()), ..Asked::default() };
            match name {
                "status" => asked.status = Some(text.into()),
                _ => asked.partner = Some(text.into()),
            }
            asked.misread()
        };
        assert_eq!((asked("status", "4xx"), asked("partner", "nobody")), (None, None));
        let (name, examples) = asked("status", "abc").expect("misread");
        assert!(name == "status" && examples.iter().all(|text| status(text).is_ok()));
        assert_eq!(answer("none"), Ok(Answer::Silent));
        assert!(answer("7xx").is_err());
    }
}
