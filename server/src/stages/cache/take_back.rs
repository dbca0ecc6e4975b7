//! What becomes of an answer on its way back: it is stored, it renews what is stored, or what is stored takes its place.

use std::sync::Arc;

use app::domain::cache_miss::CacheMiss;
use app::domain::outcome::Outcome;
use http::{HeaderMap, Method, StatusCode, header};

use super::failure::Failure;
use super::fetch::{Fetch, Plan};
use super::flight::Landed;
use super::inquiry::Inquiry;
use super::policy::{self, Arrival, Head};
use super::status::{self, Forward, Forwarded};
use super::stored::{Service, Stored};
use super::targeted::TOLL_CACHE_CONTROL;
use super::update;
use super::{directives::RequestDirectives, reply::reply};
use crate::body;
use crate::clock::Micros;
use crate::gateway::Gateway;
use crate::pipeline::Answer;

/// The answer as the client gets it; what is to be stored of it is stored while its body is read.
pub fn take_back(gateway: &Gateway, mut inquiry: Inquiry, answer: Answer) -> Answer {
    let back = Back { gateway, now: gateway.store.clock.now() };
    let said = answer.end.reached.then_some(answer.end.upstream_status).filter(|status| *status > 0);
    if let Some(failure) = Failure::of(&answer.end) {
        let stale = inquiry.candidate.clone();
        let stale = stale.filter(|s| s.serves_on_error(&inquiry.wishes, failure.nobody_answered(), back.now));
        if let Some(lead) = inquiry.lead.take() {
            lead.land(if stale.is_some() { Landed::Failed } else { Landed::Alone });
        }
        if let Some(stale) = stale {
            return back.give_stale(&inquiry, &stale, failure, answer);
        }
    }
    if answer.end.outcome != Outcome::Forwarded {
        let mut answer = answer;
        // A client that left says nothing of what others would get.
        if answer.end.outcome != Outcome::ClientGone {
            inquiry.lead.take().into_iter().for_each(|lead| lead.land(Landed::Alone));
        }
        let forwarded = Forwarded { status: said, ..Forwarded::default() };
        status::forwarded(answer.response.headers_mut(), inquiry.why, forwarded);
        return answer;
    }
    if let Some(changes) = &inquiry.changes {
        for uri in changes.uris(answer.response.status(), answer.response.headers()) {
            gateway.cache.invalidate(&uri, back.now);
        }
    }
    let mut answer = match (answer.response.status(), inquiry.candidate.clone()) {
        (StatusCode::NOT_MODIFIED, Some(stored)) if inquiry.validates => back.renew(inquiry, &stored, answer),
        (StatusCode::OK, Some(stored)) if inquiry.method == Method::HEAD => {
            back.learn_from_head(&inquiry, &stored, answer)
        }
        _ => back.store(inquiry, answer),
    };
    answer.response.headers_mut().remove(TOLL_CACHE_CONTROL);
    answer
}

struct Back<'a> {
    gateway: &'a Gateway,
    now: Micros,
}

impl Back<'_> {
    fn arrival(&self, inquiry: &Inquiry) -> Arrival {
        Arrival { asked_at: inquiry.asked_at, now: self.now, fallback: inquiry.route.cache_ttl }
    }

    /// What is stored instead of an error (RFC 5861 §4).
    fn give_stale(&self, inquiry: &Inquiry, stale: &Stored, failure: Failure, answer: Answer) -> Answer {
        let mut response = reply(stale, &inquiry.asked.headers, &inquiry.method, self.now);
        let Answer { mut entry, mut end, .. } = answer;
        let said = Some(end.upstream_status).filter(|status| end.reached && *status > 0);
        let left = Some(stale.left(self.now));
        status::forwarded(
            response.headers_mut(),
            inquiry.why,
            Forwarded { status: said, left, ..Forwarded::default() },
        );
        entry.record.retry_asked_ms = None;
        (end.stage, end.outcome) = failure.covered();
        end.status = response.status().as_u16();
        Answer { response, entry, end }
    }

    /// The upstream said 304: what is stored is good, with the headers that came (RFC 9111 §4.3.4).
    fn renew(&self, inquiry: Inquiry, stored: &Arc<Stored>, answer: Answer) -> Answer {
        let Answer { response, entry, mut end } = answer;
        let is_meant = update::is_of(stored, response.headers());
        let mut newer = response.headers().clone();
        // A cookie is for this client.
        let cookies: Vec<_> = newer.get_all(header::SET_COOKIE).iter().cloned().collect();
        newer.remove(header::SET_COOKIE);
        let merged = update::merge(stored, &newer, self.now);
        let renewed = self.judge_renewed(&inquiry, stored, &merged).filter(|_| is_meant);
        let shown = renewed.clone().unwrap_or_else(|| Stored {
            headers: merged,
            came_at: self.now,
            initial_age: 0,
            ..Stored::clone(stored)
        });
        let cache = &self.gateway.cache;
        let kept = renewed.and_then(|renewed| cache.put(inquiry.uri.clone(), inquiry.path.clone(), renewed));
        if kept.is_none() && (!is_meant || !inquiry.asked.has_credentials && !inquiry.asked.has_cookie) {
            cache.forget(&inquiry.uri, stored);
        }
        let mut response = reply(&shown, &inquiry.asked.headers, &inquiry.method, self.now);
        for cookie in cookies {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        let what = Forwarded {
            status: Some(304),
            stored: kept.is_some(),
            left: Some(shown.left(self.now)),
            ..Forwarded::default()
        };
        status::forwarded(response.headers_mut(), inquiry.why, what);
        if let Some(lead) = inquiry.lead {
            lead.land(kept.filter(|kept| self.is_for_all(kept)).map_or(Landed::Alone, Landed::Shared));
        }
        (end.outcome, end.status) = (Outcome::Revalidated, response.status().as_u16());
        Answer { response, entry, end }
    }

    fn judge_renewed(&self, inquiry: &Inquiry, stored: &Stored, merged: &HeaderMap) -> Option<Stored> {
        let head = Head { status: stored.status, headers: merged };
        let renewed = policy::judge(&inquiry.asked, head, self.arrival(inquiry))?;
        Some(Stored { body: stored.body.clone(), ..renewed })
    }

    /// The 200 to a HEAD tells of the GET's answer too (RFC 9111 §4.3.5).
    fn learn_from_head(&self, inquiry: &Inquiry, stored: &Arc<Stored>, mut answer: Answer) -> Answer {
        let cache = &self.gateway.cache;
        let newer = answer.response.headers();
        let renewed = update::describes(stored, newer)
            .then(|| self.judge_renewed(inquiry, stored, &update::merge(stored, newer, self.now)))
            .flatten();
        let kept = renewed.and_then(|renewed| cache.put(inquiry.uri.clone(), inquiry.path.clone(), renewed));
        if kept.is_none() {
            cache.forget(&inquiry.uri, stored);
        }
        let what = Forwarded { status: Some(200), stored: kept.is_some(), ..Forwarded::default() };
        status::forwarded(answer.response.headers_mut(), inquiry.why, what);
        answer
    }

    fn store(&self, mut inquiry: Inquiry, mut answer: Answer) -> Answer {
        let status = answer.response.status();
        let judged = self.judge_whole(&inquiry, &answer);
        let mut what = Forwarded { status: Some(status.as_u16()), ..Forwarded::default() };
        match judged {
            Some(stored) => {
                (what.stored, what.left) = (true, Some(stored.left(self.now)));
                if !self.is_for_all(&stored) {
                    self.release(&mut inquiry);
                }
                let body = std::mem::replace(answer.response.body_mut(), body::empty());
                let store = self.gateway.cache.clone();
                let (uri, path, lead) = (inquiry.uri, inquiry.path, inquiry.lead);
                let plan = Plan { stored, store, uri, path, lead };
                *answer.response.body_mut() = Fetch::start(body, plan).body();
            }
            None => {
                if inquiry.why == Forward::UriMiss && inquiry.method == Method::GET {
                    answer.entry.record.cache_miss = Some(match status {
                        // The client asked whether its own version is good, and that is an answer for it alone.
                        StatusCode::NOT_MODIFIED => CacheMiss::Bypass,
                        // Asking again would not have helped: that is the better reason.
                        _ => CacheMiss::Unstorable,
                    });
                }
                // A newer answer takes the place of an older one even if it may not be kept itself.
                if let Some(older) = inquiry.candidate.as_ref().filter(|_| self.replaces(&inquiry, status)) {
                    self.gateway.cache.forget(&inquiry.uri, older);
                }
                self.release(&mut inquiry);
            }
        }
        status::forwarded(answer.response.headers_mut(), inquiry.why, what);
        answer
    }

    fn judge_whole(&self, inquiry: &Inquiry, answer: &Answer) -> Option<Stored> {
        let (status, headers) = (answer.response.status(), answer.response.headers());
        let is_read = inquiry.method == Method::GET && inquiry.why != Forward::Bypass;
        let is_whole =
            status == StatusCode::OK || policy::asks_for_the_whole(&inquiry.method, &inquiry.asked.headers);
        let length = http_body::Body::size_hint(answer.response.body()).lower();
        let fits = length <= self.gateway.cache.largest() as u64;
        if !is_read || !is_whole || !fits || !policy::ends(answer.response.extensions(), headers) {
            return None;
        }
        policy::judge(&inquiry.asked, Head { status, headers }, self.arrival(inquiry))
    }

    fn replaces(&self, inquiry: &Inquiry, status: StatusCode) -> bool {
        let is_answer = !status.is_server_error() && status != StatusCode::NOT_MODIFIED;
        is_answer && policy::asks_for_the_whole(&inquiry.method, &inquiry.asked.headers)
    }

    /// Whether those who wait may have it without asking themselves.
    fn is_for_all(&self, stored: &Stored) -> bool {
        let service = stored.service(&RequestDirectives::default(), self.now);
        matches!(service, Service::Fresh | Service::Revalidating)
    }

    /// Nobody waits for this answer, nor for the next ones.
    fn release(&self, inquiry: &mut Inquiry) {
        if let Some(lead) = inquiry.lead.take() {
            self.gateway.cache.not_for_sharing(&inquiry.uri);
            lead.land(Landed::Alone);
        }
    }
}
