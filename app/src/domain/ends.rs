//! Where requests ended: so many at each stage, and so many at the upstream.

use serde::{Deserialize, Serialize};

use super::funnel::Funnel;
use super::stage::Stage;

/// A funnel without its reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ends {
    /// By stage, route first.
    pub stopped: [u64; 6],
    /// Handed to the upstream.
    pub reached: u64,
}

impl Ends {
    pub fn of(funnel: &Funnel) -> Ends {
        Ends {
            stopped: Stage::ALL.map(|stage| funnel.stage(stage).stopped),
            reached: funnel.reached_upstream,
        }
    }

    pub fn arrived(&self) -> u64 {
        self.stopped.iter().sum::<u64>() + self.reached
    }

    pub fn at(&self, stage: Stage) -> u64 {
        self.stopped[stage.index()]
    }

    /// What was turned away. What the cache answered was served.
    pub fn refused(&self) -> u64 {
        self.arrived() - self.reached - self.at(Stage::Cache)
    }

    /// What came in to each stage, and what it let through.
    pub fn flow(&self) -> [(Stage, u64, u64); 6] {
        let mut entered = self.arrived();
        Stage::ALL.map(|stage| {
            let came = entered;
            entered -= self.at(stage);
            (stage, came, entered)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_is_given_what_the_one_before_let_through() {
        let ends = Ends { stopped: [0, 10, 0, 30, 0, 2], reached: 58 };
        assert_eq!((ends.arrived(), ends.refused(), ends.reached), (100, 12, 58));
        assert_eq!(ends.flow()[0], (Stage::Route, 100, 100));
        assert_eq!(ends.flow()[1], (Stage::Key, 100, 90));
        assert_eq!(ends.flow()[5], (Stage::Proxy, 60, 58));
    }
}
