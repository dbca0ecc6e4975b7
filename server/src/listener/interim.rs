//! Interim answers (RFC 9110 §15.2) on their way to a client of HTTP/1.1. hyper cannot send them: the wire writes them
//! between two of its answers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, StatusCode};
use tokio::sync::Notify;

use super::wire::LARGEST_HEAD;

/// Those that wait to be written, as they are written.
#[derive(Debug, Default)]
pub struct Interim {
    waiting: Mutex<Vec<u8>>,
    pushed: Notify,
}

impl Interim {
    /// One for which there is no room is left out: nobody depends on it.
    pub fn push(&self, status: StatusCode, headers: &HeaderMap) {
        let head = head(status, headers);
        let mut waiting = self.lock();
        if waiting.len() + head.len() <= LARGEST_HEAD {
            waiting.extend(head);
            self.pushed.notify_one();
        }
    }

    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock())
    }

    /// Waits for the next one.
    pub async fn pushed(&self) {
        self.pushed.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn head(status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
    let reason = status.canonical_reason().unwrap_or_default();
    let mut head = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    for (name, value) in headers {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            head.extend(part);
        }
    }
    head.extend(b"\r\n");
    head
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::LINK;

    use super::*;

    #[test]
    fn they_are_written_in_their_order_and_not_without_end() {
        let interim = Interim::default();
        let headers = HeaderMap::from_iter([(LINK, HeaderValue::from_static("</a>"))]);
        interim.push(StatusCode::PROCESSING, &HeaderMap::new());
        interim.push(StatusCode::EARLY_HINTS, &headers);
        let written = "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
        assert_eq!(String::from_utf8(interim.take()).expect("text"), written);
        for _ in 0..10_000 {
            interim.push(StatusCode::EARLY_HINTS, &headers);
        }
        assert!((1..=LARGEST_HEAD).contains(&interim.take().len()));
        assert!(interim.take().is_empty());
    }
}
