//! `X-RateLimit-*`, and the same as structured fields (IETF draft-ietf-httpapi-ratelimit-headers).

use http::{HeaderMap, HeaderValue};

use super::{NEVER, Verdict};
use crate::catalog::Plan;

pub fn write(headers: &mut HeaderMap, verdict: &Verdict, plan: &Plan) {
    let remaining = verdict.tokens_after.floor().max(0.0) as u64;
    let capacity = f64::from(plan.capacity);
    let reset = match verdict.granted {
        true => seconds_to_refill(capacity - verdict.tokens_after, plan.refill_per_second),
        false => verdict.retry_after,
    };
    let window = seconds_to_refill(capacity, plan.refill_per_second).max(1);
    headers.insert("x-ratelimit-limit", HeaderValue::from(plan.capacity));
    headers.insert("x-ratelimit-remaining", HeaderValue::from(remaining));
    headers.insert("x-ratelimit-reset", HeaderValue::from(reset));
    let structured = [
        ("ratelimit-policy", format!("\"{}\";q={};w={window}", plan.name, plan.capacity)),
        ("ratelimit", format!("\"{}\";r={remaining};t={reset}", plan.name)),
    ];
    for (name, value) in structured {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    if verdict.locally {
        headers.insert("x-toll-metered", HeaderValue::from_static("local"));
    }
}

/// Whole seconds, rounded up.
fn seconds_to_refill(tokens: f64, refill_per_second: f64) -> u64 {
    if tokens <= 0.0 {
        0
    } else if refill_per_second <= 0.0 {
        NEVER
    } else {
        ((tokens / refill_per_second).ceil() as u64).min(NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_says_what_is_left_and_when_it_is_full_again() {
        let plan = Plan { id: 1, name: "free".into(), capacity: 60, refill_per_second: 1.0, routes: None };
        let verdict = Verdict {
            granted: true,
            tokens_before: 56.4,
            tokens_after: 55.4,
            retry_after: 1,
            early_after_ms: None,
            locally: false,
        };
        let mut headers = HeaderMap::new();
        write(&mut headers, &verdict, &plan);
        assert_eq!(headers["x-ratelimit-limit"], "60");
        assert_eq!(headers["x-ratelimit-remaining"], "55");
        assert_eq!(headers["x-ratelimit-reset"], "5");
        assert_eq!(headers["ratelimit-policy"], "\"free\";q=60;w=60");
        assert_eq!(headers["ratelimit"], "\"free\";r=55;t=5");
        assert!(!headers.contains_key("x-toll-metered"));
    }
}
