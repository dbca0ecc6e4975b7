//! Each outcome of the contract, driven once through real sockets: what the answer says, what the log, the rollups and the
//! funnel say, and how many calls the upstream has counted must agree.

mod breaker;
mod cache;
mod everywhere;
mod gone;
pub mod house;
mod key;
mod order;
mod own_faults;
mod proxy;
mod quota;
mod route;
mod upstream;

use std::collections::BTreeSet;

use app::domain::outcome::Outcome;

/// An outcome and the test that drives it.
type Driven = (Outcome, fn());

#[test]
fn every_outcome_that_there_is_is_driven_by_a_test() {
    let lists: [&[Driven]; 9] = [
        route::DRIVEN,
        key::DRIVEN,
        quota::DRIVEN,
        cache::DRIVEN,
        breaker::DRIVEN,
        proxy::DRIVEN,
        upstream::DRIVEN,
        gone::DRIVEN,
        own_faults::DRIVEN,
    ];
    let driven: BTreeSet<Outcome> = lists.into_iter().flatten().map(|(outcome, _)| *outcome).collect();
    let missing: Vec<_> = Outcome::ALL.iter().filter(|outcome| !driven.contains(outcome)).collect();
    assert!(missing.is_empty(), "no test drives {missing:?}");
}
