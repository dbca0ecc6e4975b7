//! Every answer that Toll gives in its own name: status, headers and problem body are made here and nowhere else.

use std::borrow::Cow;

use app::domain::outcome::Outcome;
use app::domain::stage::Stage;
use http::header::{ALLOW, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;
use uuid::Uuid;

use crate::body::{self, Body};
use crate::ledger::Entry;
use crate::ledger::record::End;
use crate::pipeline::Answer;

/// A stage's reason not to pass a request on.
#[derive(Debug)]
pub struct Refusal {
    pub stage: Stage,
    pub outcome: Outcome,
    /// For the caller: what is wrong and what to do. Never a key, a query value or an upstream's address.
    pub detail: Cow<'static, str>,
    /// Whole seconds, at least 1.
    pub retry_after: Option<u64>,
    /// Whether an upstream was reached, and its status (0: none).
    pub reached: bool,
    pub upstream_status: u16,
    extra: Option<(HeaderName, HeaderValue)>,
}

/// RFC 9457, with Toll's members.
#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    stage: Stage,
    outcome: Outcome,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<u64>,
}

impl Refusal {
    pub fn new(stage: Stage, outcome: Outcome, detail: impl Into<Cow<'static, str>>) -> Refusal {
        let extra = (outcome.status() == 401)
            .then(|| (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toll\"")));
        Refusal {
            stage,
            outcome,
            detail: detail.into(),
            // The gateway's own 503 always says when to come back.
            retry_after: (outcome.status() == 503).then_some(1),
            reached: false,
            upstream_status: 0,
            extra,
        }
    }

    /// Come back after `seconds`.
    pub fn retry_after(mut self, seconds: u64) -> Refusal {
        self.retry_after = Some(seconds.max(1));
        self
    }

    /// The upstream had the request; `status` is what it said, 0 if nothing.
    pub fn reached(mut self, status: u16) -> Refusal {
        self.reached = true;
        self.upstream_status = status;
        self
    }

    /// The methods that a 405 must name (RFC 9110 §15.5.6).
    pub fn allow(mut self, methods: &str) -> Refusal {
        self.extra = HeaderValue::from_str(methods).ok().map(|value| (ALLOW, value));
        self
    }

    /// Turns the refusal into what the client gets.
    pub fn answer(self, entry: Entry) -> Answer {
        let status = self.status();
        let end = End {
            stage: self.stage,
            outcome: self.outcome,
            status: status.as_u16(),
            reached: self.reached,
            upstream_status: self.upstream_status,
        };
        let mut answer = Answer { response: self.response(entry.id()), entry, end };
        answer.entry.record.retry_asked_ms = self.retry_after.map(|s| s as i64 * 1000);
        answer
    }

    fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.outcome.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The response to the request of that id.
    pub fn response(&self, id: Uuid) -> Response<Body> {
        let status = self.status();
        if status == StatusCode::NO_CONTENT {
            let mut response = Response::new(body::empty());
            *response.status_mut() = status;
            return response;
        }
        let problem = Problem {
            r#type: format!("urn:toll:outcome:{}", self.outcome.name()),
            title: self.outcome.title(),
            status: status.as_u16(),
            detail: &self.detail,
            stage: self.stage,
            outcome: self.outcome,
            id: id.to_string(),
            retry_after: self.retry_after,
        };
        let json = serde_json::to_vec(&problem).expect("a problem is plain text and numbers");
        let mut response = Response::new(body::full(json));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // A refusal is for this caller and this moment.
        headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some((name, value)) = &self.extra {
            headers.insert(name.clone(), value.clone());
        }
        if self.outcome == Outcome::BadRequest {
            // Who frames one request badly is not asked for another (RFC 9112 §11.2). HTTP/2 leaves this out.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// The answer to bytes that were no request: no id, no stage, nothing in the books.
pub fn unreadable(status: u16, detail: &str) -> Response<Body> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let title = status.canonical_reason().unwrap_or_default();
    let problem = serde_json::json!({
        "type": "urn:toll:unreadable", "title": title, "status": status.as_u16(), "detail": detail,
    });
    let mut response = Response::new(body::full(problem.to_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// `OPTIONS *` is about the server as a whole, no resource of it (RFC 9110 §9.3.7).
pub fn options_of_the_server() -> Response<Body> {
    let mut response = Response::new(body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(crate::catalog::ALL_METHODS));
    response
}
