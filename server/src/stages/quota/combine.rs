//! Requests combine: while one statement is under way, arrivals gather, and the next statement spends for all of them.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::PgConnection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::local::LocalBuckets;
use super::spend::{settle, spend};
use super::{Ask, Verdict};
use crate::store::{PATIENCE, Store};

/// Requests that one statement spends for at most.
const MOST: usize = 2_000;

/// A partner's requests always take the same lane, so that lanes do not wait for each other's row locks.
pub struct Quota {
    lanes: Vec<mpsc::UnboundedSender<Waiting>>,
    local: Arc<LocalBuckets>,
    store: Arc<Store>,
    meter_locally: bool,
}

struct Waiting {
    ask: Ask,
    verdict: oneshot::Sender<Spent>,
}

enum Spent {
    Verdict(Option<Verdict>),
    /// The statement failed; the question goes back.
    Away(Ask),
}

impl Quota {
    /// Starts `lanes` tasks on the background runtime, each with a connection of its own.
    pub fn start(store: Arc<Store>, lanes: usize, meter_locally: bool) -> Quota {
        let local = Arc::new(LocalBuckets::default());
        let lanes = (0..lanes.max(1))
            .map(|_| {
                let (sender, receiver) = mpsc::unbounded_channel();
                store.background().spawn(run_lane(receiver, store.clone(), local.clone()));
                sender
            })
            .collect();
        Quota { lanes, local, store, meter_locally }
    }

    /// One token for one request. `None`: nobody can say.
    pub async fn spend(&self, ask: Ask) -> Option<Verdict> {
        if self.store.is_away() {
            return self.spend_locally(&ask);
        }
        let (verdict, answer) = oneshot::channel();
        let lane = ask.partner as usize % self.lanes.len();
        self.lanes[lane].send(Waiting { ask, verdict }).ok()?;
        match answer.await.ok()? {
            Spent::Verdict(verdict) => verdict,
            Spent::Away(ask) => self.spend_locally(&ask),
        }
    }

    fn spend_locally(&self, ask: &Ask) -> Option<Verdict> {
        self.meter_locally.then(|| self.local.spend(ask, std::time::Instant::now())).flatten()
    }

    /// The database is back: takes from it what was granted meanwhile.
    pub async fn settle(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        let owed = self.local.owed();
        if owed.is_empty() {
            return Ok(());
        }
        settle(db, &owed).await?;
        owed.settled();
        Ok(())
    }
}

/// An idle lane sends at once: no timer delays a lone request.
async fn run_lane(mut queue: mpsc::UnboundedReceiver<Waiting>, store: Arc<Store>, local: Arc<LocalBuckets>) {
    let mut connection = None;
    let mut batch = Vec::new();
    while queue.recv_many(&mut batch, MOST).await > 0 {
        // Who has gone meanwhile is not charged.
        batch.retain(|waiting| !waiting.verdict.is_closed());
        let (asks, answers): (Vec<Ask>, Vec<_>) = batch.drain(..).map(|w| (w.ask, w.verdict)).unzip();
        let spent = match store.is_away() || asks.is_empty() {
            true => Err(None),
            false => timeout(PATIENCE, spend_on(&mut connection, &store, &asks))
                .await
                .map_err(|_elapsed| None)
                .and_then(|r| r.map_err(Some)),
        };
        match spent {
            Ok(verdicts) => {
                note(&local, &asks, &verdicts);
                // Before anybody is answered: who asks again at once must not meet itself inside, and look like a burst.
                drop(asks);
                for (answer, verdict) in answers.into_iter().zip(verdicts) {
                    let _ = answer.send(Spent::Verdict(verdict));
                }
            }
            Err(why) => {
                connection = None;
                match why {
                    Some(error) => drop(store.failed(&error)),
                    None if !asks.is_empty() => drop(store.silent()),
                    None => {}
                }
                for (ask, answer) in asks.into_iter().zip(answers) {
                    let _ = answer.send(Spent::Away(ask));
                }
            }
        }
    }
}

async fn spend_on(
    connection: &mut Option<PgConnection>,
    store: &Store,
    asks: &[Ask],
) -> sqlx::Result<Vec<Option<Verdict>>> {
    let db = match connection {
        Some(db) => db,
        None => connection.insert(connect(store).await?),
    };
    spend(db, asks).await
}

/// A power cut of the database may forget the last tokens spent: waiting for its disk would be the limit of everything.
async fn connect(store: &Store) -> sqlx::Result<PgConnection> {
    let mut connection = store.db.acquire().await?.detach();
    sqlx::query("set synchronous_commit = off").execute(&mut connection).await?;
    Ok(connection)
}

/// Remembers what is left in each bucket of the batch.
fn note(local: &LocalBuckets, asks: &[Ask], verdicts: &[Option<Verdict>]) {
    let mut left: HashMap<i64, (&Ask, f64)> = HashMap::new();
    for (ask, verdict) in
        asks.iter().zip(verdicts).filter_map(|(ask, verdict)| Some((ask, verdict.as_ref()?)))
    {
        let least = left.entry(ask.partner).or_insert((ask, verdict.tokens_after));
        least.1 = least.1.min(verdict.tokens_after);
    }
    for (ask, tokens) in left.into_values() {
        local.saw(ask, tokens);
    }
}
