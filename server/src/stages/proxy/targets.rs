//! Which target is asked, and which next.

use std::sync::Arc;

use http::{Method, Response};
use hyper::body::Incoming;

use super::exchange::{Broken, Exchange};
use super::interim::Client;
use super::pool::{Lease, Pools, Wish};
use super::request::Head;
use super::upload::Upload;
use crate::catalog::upstream::InFlight;
use crate::catalog::{Target, Upstream};
use crate::ledger::Entry;

/// An answer's head, and what is held as long as its body comes.
pub struct Answered {
    pub response: Response<Incoming>,
    pub lease: Lease,
    pub in_flight: InFlight,
}

pub struct Targets<'t> {
    pub pools: &'t Pools,
    pub upstream: &'t Upstream,
    pub head: &'t Head,
    pub only_http1: bool,
    pub client: Option<Client>,
}

impl Targets<'_> {
    /// Tries once more where [`may_repeat`] allows it and the body is still at hand.
    pub async fn ask(&self, upload: Upload, entry: &mut Entry) -> (Result<Answered, Broken>, Upload) {
        let Some(target) = self.upstream.pick(None) else {
            return (Err(Broken::Unreachable), upload);
        };
        // Without a copy of the body there is no second time.
        let again = upload.again();
        let (result, upload) = self.try_one(&target, upload, false, entry).await;
        let broken = match &result {
            Ok(_) => return (result, upload),
            Err(broken) => *broken,
        };
        if broken == Broken::Unreachable {
            target.pass_over();
        }
        let method = &self.head.parts.method;
        let Some(again) = again.filter(|_| may_repeat(broken, method) && upload.error().is_none()) else {
            return (result, upload);
        };
        let next = match self.upstream.pick(Some(&target)) {
            Some(other) => other,
            // It took connections a moment ago.
            None if broken != Broken::Unreachable => target,
            None => return (result, upload),
        };
        let (result, upload) = self.try_one(&next, again, true, entry).await;
        if matches!(result, Err(Broken::Unreachable)) {
            next.pass_over();
        }
        (result, upload)
    }

    async fn try_one(
        &self,
        target: &Arc<Target>,
        mut upload: Upload,
        fresh: bool,
        entry: &mut Entry,
    ) -> (Result<Answered, Broken>, Upload) {
        let in_flight = target.enter();
        entry.record.target.clone_from(&target.url);
        let request = self.head.to(target, upload.take_body());
        let exchange = Exchange {
            pool: self.pools.of(target),
            target,
            wish: Wish { only_http1: self.only_http1, fresh },
            connect_timeout: self.upstream.connect_timeout,
            timeout: self.upstream.timeout,
            progress: upload.progress(),
            client: self.client.clone(),
        };
        let result = exchange.run(request, entry).await;
        (result.map(|(response, lease)| Answered { response, lease, in_flight }), upload)
    }
}

/// RFC 9110 §9.2.2: what may have been begun is repeated only if doing it twice is the same as doing it once. Never after
/// a byte of an answer, and never after a timeout: the upstream may still be at it.
pub fn may_repeat(broken: Broken, method: &Method) -> bool {
    match broken {
        Broken::Refused => true,
        Broken::Unreachable | Broken::Stale => method.is_idempotent(),
        Broken::Short | Broken::TimedOut | Broken::Off => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_begun_or_may_be_done_twice_is_repeated() {
        for broken in [Broken::Unreachable, Broken::Stale] {
            assert!(may_repeat(broken, &Method::GET) && may_repeat(broken, &Method::PUT));
            assert!(!may_repeat(broken, &Method::POST) && !may_repeat(broken, &Method::PATCH));
        }
        assert!(may_repeat(Broken::Refused, &Method::POST), "the upstream says that it did nothing");
        for broken in [Broken::Short, Broken::TimedOut, Broken::Off] {
            assert!(!may_repeat(broken, &Method::GET));
        }
    }
}
