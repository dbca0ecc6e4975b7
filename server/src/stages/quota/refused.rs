//! What this node has refused lately: whoever retries asks for the same thing again, and whoever goes on with the next item
//! of a list does not, however early it comes.

use std::hash::{BuildHasher, Hash, RandomState};
use std::time::{Duration, Instant};

use http::Request;
use http::header::{CONTENT_LENGTH, USER_AGENT};
use moka::sync::Cache;

/// Requests that are remembered. Of one that is forgotten nothing is said.
const MOST: u64 = 100_000;

/// In memory alone, and only as numbers that nobody outside this process could make: no value of a query is kept.
pub struct Refused {
    numbers: RandomState,
    until: Cache<u64, Instant>,
}

impl Default for Refused {
    fn default() -> Refused {
        Refused { numbers: RandomState::new(), until: Cache::new(MOST) }
    }
}

impl Refused {
    /// Notes that a request of this key and address was refused, and says whether the same one had been before and was
    /// to wait for longer.
    pub fn again(
        &self,
        caller: impl Hash,
        request: &Request<impl Sized>,
        wait: Duration,
        now: Instant,
    ) -> bool {
        let target = request.uri().path_and_query().map(|target| target.as_str());
        let headers = [CONTENT_LENGTH, USER_AGENT].map(|name| request.headers().get(name));
        let number = self.numbers.hash_one((caller, request.method(), target, headers));
        let before = self.until.get(&number);
        self.until.insert(number, now + wait);
        before.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Duration = Duration::from_secs(9);

    fn of(method: &str, target: &str, headers: &[(&str, &str)]) -> Request<()> {
        let request = Request::builder().method(method).uri(target);
        let add =
            |request: http::request::Builder, (name, value): &(&str, &str)| request.header(*name, *value);
        headers.iter().fold(request, add).body(()).unwrap()
    }

    #[test]
    fn the_same_request_comes_again_until_its_wait_is_over() {
        let (refused, start) = (Refused::default(), Instant::now());
        let request = of("GET", "/api/orders?page=1", &[]);
        assert!(!refused.again(1, &request, WAIT, start));
        assert!(refused.again(1, &request, WAIT, start + Duration::from_secs(8)));
        assert!(!refused.again(1, &request, WAIT, start + Duration::from_secs(17)));
    }

    #[test]
    fn another_caller_method_path_query_length_or_program_is_another_request() {
        let (refused, now) = (Refused::default(), Instant::now());
        let requests = [
            of("GET", "/api/orders?page=1", &[]),
            of("GET", "/api/orders?page=2", &[]),
            of("GET", "/api/orders", &[]),
            of("HEAD", "/api/orders", &[]),
            of("POST", "/api/orders", &[("content-length", "7")]),
            of("POST", "/api/orders", &[("content-length", "8")]),
            of("GET", "/api/orders", &[("user-agent", "7")]),
        ];
        for request in &requests {
            assert!(!refused.again(1, request, WAIT, now), "{request:?}");
            assert!(!refused.again(2, request, WAIT, now), "{request:?}");
        }
        assert!(requests.iter().all(|request| refused.again(1, request, WAIT, now)));
    }
}
