//! How hyper is told to serve a connection.

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;

use super::wire::{LARGEST_HEAD, MOST_HEADERS};

/// How long a connection may be kept open without a request.
const IDLE: Duration = Duration::from_secs(75);
/// How often an HTTP/2 client that says nothing is asked whether it is still there, and how long it may think about it.
const PING: Duration = Duration::from_secs(20);
/// The most that a header of HTTP/1 may come to in one read: hyper gets whole heads, and bodies behind them.
const LARGEST_BUFFER: usize = 2 * LARGEST_HEAD;

/// `head_timeout`: from the first byte of a head to its last. HTTP/1's is kept by the wire, which holds a head back until
/// it is whole; to hyper that time is idle.
pub fn builder(head_timeout: Duration) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE + head_timeout)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LARGEST_BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(PING)
        .max_header_list_size(LARGEST_HEAD as u32);
    builder
}
