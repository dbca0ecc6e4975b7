//! Key: who asks?
//!
//! Needs `Routed`. Gives `Identified`: the caller, or nobody on a public route. Refuses by shape and checksum before any look-up,
//! then what is unknown, revoked, expired, suspended or not granted. Touches the map of known keys, and for a key seen
//! for the first time the database.

mod carrier;
mod known;

use std::sync::Arc;

use app::domain::key_text;
use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use tower::Layer;

use crate::catalog::Plan;
use crate::clock::Micros;
use crate::gateway::Gateway;
use crate::pipeline::{Answer, Serve};
use crate::refusal::Refusal;
use crate::stages::route::Routed;
pub use known::{KeyHash, KnownKey, KnownKeys};

/// Proof that the caller may call this route. Only this stage makes one.
pub struct Identified {
    pub routed: Routed,
    /// Nobody in particular on a public route.
    pub caller: Option<Caller>,
    _proof: (),
}

pub struct Caller {
    pub key: Arc<KnownKey>,
    pub plan: Arc<Plan>,
}

pub fn layer(gateway: &Arc<Gateway>) -> KeyLayer {
    KeyLayer { gateway: gateway.clone() }
}

pub struct KeyLayer {
    gateway: Arc<Gateway>,
}

impl<S> Layer<S> for KeyLayer {
    type Service = KeyStage<S>;

    fn layer(&self, inner: S) -> KeyStage<S> {
        KeyStage { gateway: self.gateway.clone(), inner }
    }
}

pub struct KeyStage<S> {
    gateway: Arc<Gateway>,
    inner: S,
}

impl<S: Serve<Identified>> Serve<Routed> for KeyStage<S> {
    async fn serve(&self, mut routed: Routed) -> Answer {
        routed.arrived.entry.at(Stage::Key);
        // No key ever goes upstream, whether this route asks for one or not.
        let presented = carrier::take(routed.arrived.request.headers_mut());
        if routed.route.public {
            return self.inner.serve(Identified { routed, caller: None, _proof: () }).await;
        }
        let key = match self.look_up(presented).await {
            Ok(key) => key,
            Err(refusal) => return refusal.answer(routed.arrived.entry),
        };
        routed.arrived.entry.record.partner = key.partner;
        routed.arrived.entry.record.key = key.id;
        match decide(&key, &routed, self.gateway.store.clock.now()) {
            Ok(plan) => {
                let caller = Some(Caller { key, plan });
                self.inner.serve(Identified { routed, caller, _proof: () }).await
            }
            Err(refusal) => refusal.answer(routed.arrived.entry),
        }
    }
}

impl<S> KeyStage<S> {
    /// Shape and checksum first: a typo costs no look-up.
    async fn look_up(&self, presented: carrier::Presented) -> Result<Arc<KnownKey>, Refusal> {
        let text = match presented {
            carrier::Presented::Nothing => {
                let detail = "send your key as `X-Api-Key`, or as `Authorization: Bearer`";
                return Err(refuse(Outcome::KeyMissing, detail));
            }
            carrier::Presented::Twice => {
                let detail = "`X-Api-Key` must stand once and be plain text: the whole key, not its start and an ellipsis";
                return Err(refuse(Outcome::KeyMalformed, detail));
            }
            carrier::Presented::Key(text) => text,
        };
        if !key_text::is_well_formed(&text) {
            let detail =
                "this is no key of Toll's: its length, letters or checksum are wrong; copy it once more";
            return Err(refuse(Outcome::KeyMalformed, detail));
        }
        match self.gateway.keys.find(KeyHash::of(&text), &self.gateway.store).await {
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(refuse(Outcome::KeyUnknown, "no such key was ever made here")),
            Err(_away) => {
                self.gateway.store.presence.refused();
                let detail = "this key was not seen before, and the place to look it up does not answer";
                Err(refuse(Outcome::KeyUnverifiable, detail))
            }
        }
    }
}

fn refuse(outcome: Outcome, detail: &'static str) -> Refusal {
    Refusal::new(Stage::Key, outcome, detail)
}

/// Revoked, expired, suspended, not granted: in this order.
fn decide(key: &KnownKey, routed: &Routed, now: Micros) -> Result<Arc<Plan>, Refusal> {
    if key.revoked_at.is_some_and(|at| at <= now) {
        return Err(refuse(Outcome::KeyRevoked, "this key was revoked; use another one"));
    }
    if key.expires_at.is_some_and(|at| at <= now) {
        return Err(refuse(Outcome::KeyExpired, "this key has expired; make a new one"));
    }
    if key.suspended {
        return Err(refuse(Outcome::PartnerSuspended, "your account is suspended; ask the operator"));
    }
    let route = &routed.route.name;
    let plan = routed.catalog.plans.get(&key.plan);
    let plan = plan.filter(|plan| plan.routes.as_ref().is_none_or(|routes| routes.contains(route)));
    match plan {
        Some(plan) if key.routes.as_ref().is_none_or(|routes| routes.contains(route)) => Ok(plan.clone()),
        Some(_) => Err(refuse(Outcome::KeyNotAllowed, "this key is limited to other routes")),
        None => Err(refuse(Outcome::KeyNotAllowed, "your plan does not include this route")),
    }
}
