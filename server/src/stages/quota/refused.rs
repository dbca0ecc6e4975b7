//! What this node has refused lately: whoever retries asks for the same thing again, and whoever goes on with the next item
//! of a list does not, however early it comes.

use std::hash::{BuildHasher, Hash, RandomState};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::header::{EXPECT, USER_AGENT};
use http_body::Body;
use http_body_util::BodyExt;
use moka::sync::Cache;

use crate::body::known_length;

/// Requests that are remembered. Of one that is forgotten nothing is said.
const MOST: u64 = 100_000;
/// Bodies up to this length are looked at.
const SMALL: u64 = 64 << 10;
/// What is not here by then is not waited for: the refusal is ready.
const PATIENCE: Duration = Duration::from_millis(50);

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
        body: &[u8],
        wait: Duration,
        now: Instant,
    ) -> bool {
        let target = request.uri().path_and_query().map(|target| target.as_str());
        let program = request.headers().get(USER_AGENT);
        let number = self.numbers.hash_one((caller, request.method(), target, program, body));
        let before = self.until.get(&number);
        self.until.insert(number, now + wait);
        before.is_some_and(|until| now < until)
    }
}

/// The body of a request that is refused, which nobody else will read: two orders of the same length are not one that is
/// sent again. None if it is large, or of unknown length, or not here; of such a request nothing is said.
pub async fn body<B>(request: &mut Request<B>) -> Option<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let length = known_length(request.body())?;
    if length == 0 {
        return Some(Bytes::new());
    }
    // To read would be to say `100 Continue`.
    if length > SMALL || request.headers().contains_key(EXPECT) {
        return None;
    }
    let whole = tokio::time::timeout(PATIENCE, request.body_mut().collect()).await.ok()?;
    Some(whole.ok()?.to_bytes())
}

#[cfg(test)]
mod tests {
    use http_body_util::{Full, StreamBody};

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
        assert!(!refused.again(1, &request, b"", WAIT, start));
        assert!(refused.again(1, &request, b"", WAIT, start + Duration::from_secs(8)));
        assert!(!refused.again(1, &request, b"", WAIT, start + Duration::from_secs(17)));
    }

    #[test]
    fn another_caller_method_path_query_body_or_program_is_another_request() {
        let (refused, now) = (Refused::default(), Instant::now());
        let requests = [
            (of("GET", "/api/orders?page=1", &[]), ""),
            (of("GET", "/api/orders?page=2", &[]), ""),
            (of("GET", "/api/orders", &[]), ""),
            (of("HEAD", "/api/orders", &[]), ""),
            (of("POST", "/api/orders", &[]), "item 1"),
            (of("POST", "/api/orders", &[]), "item 2"),
            (of("GET", "/api/orders", &[("user-agent", "7")]), ""),
        ];
        let again = |caller, (request, body): &(Request<()>, &str)| {
            refused.again(caller, request, body.as_bytes(), WAIT, now)
        };
        for request in &requests {
            assert!(!again(1, request), "{request:?}");
            assert!(!again(2, request), "{request:?}");
        }
        assert!(requests.iter().all(|request| again(1, request)));
    }

    #[tokio::test]
    async fn only_a_small_body_that_is_here_is_looked_at() {
        let small = |length: u64| Request::new(Full::new(Bytes::from(vec![b'x'; length as usize])));
        assert_eq!(body(&mut small(0)).await.as_deref(), Some(&b""[..]));
        assert_eq!(body(&mut small(SMALL)).await.map(|body| body.len() as u64), Some(SMALL));
        assert_eq!(body(&mut small(SMALL + 1)).await, None);
        let mut expectant = small(3);
        expectant.headers_mut().insert(EXPECT, "100-continue".parse().unwrap());
        assert_eq!(body(&mut expectant).await, None);
        let endless = futures::stream::pending::<Result<http_body::Frame<Bytes>, std::convert::Infallible>>();
        assert_eq!(body(&mut Request::new(StreamBody::new(endless))).await, None);
    }
}
