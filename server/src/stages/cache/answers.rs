//! What this stage answers itself.

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::{Response, StatusCode};

use super::reply::reply;
use super::status::{self, Forward, Forwarded};
use super::stored::Stored;
use crate::body::Body;
use crate::clock::Micros;
use crate::ledger::Entry;
use crate::ledger::record::End;
use crate::pipeline::Answer;
use crate::refusal::Refusal;
use crate::stages::quota::Admitted;

/// What is stored, without anybody being asked.
pub fn give(admitted: Admitted, stored: &Stored, outcome: Outcome, now: Micros) -> Answer {
    let arrived = admitted.identified.routed.arrived;
    let response = reply(stored, arrived.request.headers(), arrived.request.method(), now);
    let outcome = match outcome {
        Outcome::CacheHit if response.status() == StatusCode::NOT_MODIFIED => Outcome::CacheNotModified,
        outcome => outcome,
    };
    hit(response, arrived.entry, outcome, stored.left(now))
}

/// `left`: until it is stale.
pub fn hit(mut response: Response<Body>, entry: Entry, outcome: Outcome, left: Micros) -> Answer {
    status::hit(response.headers_mut(), left);
    answered(response, entry, outcome)
}

/// What another has fetched.
pub fn give_collapsed(admitted: Admitted, stored: &Stored, why: Forward, now: Micros) -> Answer {
    let arrived = admitted.identified.routed.arrived;
    let mut response = reply(stored, arrived.request.headers(), arrived.request.method(), now);
    let what = Forwarded { collapsed: true, left: Some(stored.left(now)), ..Forwarded::default() };
    status::forwarded(response.headers_mut(), why, what);
    answered(response, arrived.entry, Outcome::CacheCollapsed)
}

fn answered(response: Response<Body>, entry: Entry, outcome: Outcome) -> Answer {
    let status = response.status().as_u16();
    let end = End { stage: Stage::Cache, outcome, status, reached: false, upstream_status: 0 };
    Answer { response, entry, end }
}

/// Nothing serves, and nobody may be asked (RFC 9111 §5.2.1.7).
pub fn refuse(mut admitted: Admitted, why: Forward) -> Answer {
    admitted.identified.routed.arrived.entry.record.cache_miss = Some(why.in_books());
    let detail = "nothing stored serves this request, and `only-if-cached` forbids asking the upstream";
    let refusal = Refusal::new(Stage::Cache, Outcome::CacheOnly, detail);
    let mut answer = refusal.answer(admitted.identified.routed.arrived.entry);
    status::refused(answer.response.headers_mut(), "only-if-cached");
    answer
}
