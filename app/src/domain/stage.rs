//! The six stages, in the only order they have.

use serde::{Deserialize, Serialize};

/// A stage of the pipeline. The discriminant is what the database keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(i16)]
pub enum Stage {
    Route = 1,
    Key = 2,
    Quota = 3,
    Cache = 4,
    Breaker = 5,
    Proxy = 6,
}

impl Stage {
    /// From the door to the upstream.
    pub const ALL: [Stage; 6] =
        [Stage::Route, Stage::Key, Stage::Quota, Stage::Cache, Stage::Breaker, Stage::Proxy];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Route => "route",
            Stage::Key => "key",
            Stage::Quota => "quota",
            Stage::Cache => "cache",
            Stage::Breaker => "breaker",
            Stage::Proxy => "proxy",
        }
    }

    /// As a heading.
    pub fn title(self) -> &'static str {
        match self {
            Stage::Route => "Route",
            Stage::Key => "Key",
            Stage::Quota => "Quota",
            Stage::Cache => "Cache",
            Stage::Breaker => "Breaker",
            Stage::Proxy => "Proxy",
        }
    }

    /// Of style, for whatever is about what ended at it. At the proxy that is what could not be sent, and no success.
    pub fn class_of_ends(self) -> &'static str {
        match self {
            Stage::Route => "stage-route",
            Stage::Key => "stage-key",
            Stage::Quota => "stage-quota",
            Stage::Cache => "stage-cache",
            Stage::Breaker => "stage-breaker",
            Stage::Proxy => "unsent",
        }
    }

    pub fn code(self) -> i16 {
        self as i16
    }

    pub fn from_code(code: i16) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.code() == code)
    }

    pub fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Place in the order, from 0.
    pub fn index(self) -> usize {
        self as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back_to_their_stage_and_the_order_is_the_briefs() {
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            assert_eq!(Stage::from_code(stage.code()), Some(stage));
            assert_eq!(Stage::from_name(stage.name()), Some(stage));
            assert_eq!(stage.index(), index);
        }
        let names = Stage::ALL.map(Stage::name);
        assert_eq!(names, ["route", "key", "quota", "cache", "breaker", "proxy"]);
    }
}
