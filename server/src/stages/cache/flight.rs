//! One fetch for many waiters (RFC 9111 §4): who asks first leads, who asks for the same meanwhile waits for what comes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::watch;

use super::asked::Selecting;
use super::fetch::Fetch;
use super::key::UriKey;
use super::stored::Stored;

/// What is asked for: requests with other headers may get another answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Course {
    pub uri: UriKey,
    pub selecting: Selecting,
}

/// All fetches of this node that others may wait for.
#[derive(Clone, Default)]
pub struct Flights {
    under_way: Arc<Mutex<HashMap<Course, watch::Receiver<Stage>>>>,
}

#[derive(Clone)]
enum Stage {
    /// No head yet.
    Asking,
    /// The head may be shared; the body is on its way. Held by those who want it, not by the list.
    Coming(Weak<Fetch>),
    Landed(Landed),
}

/// What waiting came to.
#[derive(Clone)]
pub enum Landed {
    Shared(Arc<Stored>),
    /// The answer is for the leader alone, or did not come whole: everybody goes on by themselves.
    Alone,
    /// Nobody answered, or with an error.
    Failed,
    /// The leader went away. What it fetched may be stored; else somebody else leads.
    Left,
}

pub enum Boarding {
    Leads(Lead),
    Waits(Waiter),
}

impl Flights {
    pub fn board(&self, course: Course) -> Boarding {
        let mut under_way = self.lock();
        if let Some(stage) = under_way.get(&course) {
            return Boarding::Waits(Waiter { stage: stage.clone() });
        }
        let (stage, watched) = watch::channel(Stage::Asking);
        under_way.insert(course.clone(), watched);
        Boarding::Leads(Lead { flights: self.clone(), course, stage })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Course, watch::Receiver<Stage>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to fetch for others. Dropped without a word, it says that the leader left.
pub struct Lead {
    flights: Flights,
    course: Course,
    stage: watch::Sender<Stage>,
}

impl Lead {
    pub fn coming(&self, fetch: Weak<Fetch>) {
        self.stage.send_replace(Stage::Coming(fetch));
    }

    pub fn land(self, landed: Landed) {
        self.stage.send_replace(Stage::Landed(landed));
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.flights.lock().remove(&self.course);
    }
}

pub struct Waiter {
    stage: watch::Receiver<Stage>,
}

impl Waiter {
    pub async fn landed(mut self) -> Landed {
        loop {
            let stage = self.stage.borrow_and_update().clone();
            match stage {
                Stage::Landed(landed) => return landed,
                Stage::Coming(fetch) => {
                    return match fetch.upgrade() {
                        Some(fetch) => fetch.whole().await.map_or(Landed::Alone, Landed::Shared),
                        None => Landed::Left,
                    };
                }
                Stage::Asking => {
                    let is_gone = self.stage.changed().await.is_err();
                    if is_gone && matches!(*self.stage.borrow(), Stage::Asking) {
                        return Landed::Left;
                    }
                }
            }
        }
    }
}
