//! Connections to upstreams that wait for their next request. Each gateway thread has its own.
//!
//! hyper-util's pooled client was used before. It sends again by itself what a closing connection did not take, tells
//! nobody which connection carried a request or whether any of it was sent, and cannot close the connection of a request
//! that is given up; the books and the rules for retries (RFC 9110 §9.2.2) need all three.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use hyper::client::conn::http2;
use tokio::sync::Notify;

use super::connect::{Dialer, Fresh, Http1, is_short};
use super::exchange::Broken;
use crate::body::Body;
use crate::catalog::Target;
use crate::catalog::upstream::Protocol;

/// Idle connections are kept for so long, and so many for each target.
const IDLE: Duration = Duration::from_secs(60);
const MOST_IDLE: usize = 512;

/// The pools of one gateway thread.
#[derive(Default)]
pub struct Pools {
    dialer: Dialer,
    by_target: Mutex<HashMap<u64, Arc<Pool>>>,
}

impl Pools {
    pub fn of(&self, target: &Arc<Target>) -> Arc<Pool> {
        let mut pools = lock(&self.by_target);
        if let Some(pool) = pools.get(&target.id) {
            return pool.clone();
        }
        // Rare: a good moment to forget targets that the catalog has no more.
        pools.retain(|_, pool| pool.target.strong_count() > 0);
        let pool = Arc::new(Pool::new(self.dialer.clone(), target));
        tokio::spawn(tidy(Arc::downgrade(&pool)));
        pools.insert(target.id, pool.clone());
        pool
    }
}

/// Connections to one target.
pub struct Pool {
    dialer: Dialer,
    target: Weak<Target>,
    /// The one that was used last is at the back.
    idle: Mutex<VecDeque<Idle>>,
    /// Told for each connection that is given back.
    returned: Notify,
    shared: Mutex<Option<Shared>>,
    /// Held while an HTTP/2 connection is being opened, which all who wait will share.
    opening: tokio::sync::Mutex<()>,
}

struct Idle {
    connection: Http1,
    since: Instant,
}

struct Shared {
    sender: http2::SendRequest<Body>,
    used: Instant,
}

/// A connection that a request has for itself, or its share of one.
pub struct Lease {
    pub kind: Kind,
    /// Has carried other requests before.
    pub is_reused: bool,
    pool: Arc<Pool>,
}

pub enum Kind {
    Http1(Http1),
    Http2(http2::SendRequest<Body>),
    /// Given back, or upgraded.
    Gone,
}

/// What a request wants of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// It asks for an upgrade.
    pub only_http1: bool,
    /// It is sent again because a reused connection was closed.
    pub fresh: bool,
}

impl Pool {
    fn new(dialer: Dialer, target: &Arc<Target>) -> Pool {
        let (idle, shared, opening) = (Mutex::default(), Mutex::default(), tokio::sync::Mutex::default());
        Pool { dialer, target: Arc::downgrade(target), idle, returned: Notify::new(), shared, opening }
    }

    /// A connection within `patience`, which covers name look-up, TCP and TLS; or why there is none.
    pub async fn lease(
        self: &Arc<Pool>,
        target: &Target,
        wish: Wish,
        patience: Duration,
    ) -> Result<Lease, Broken> {
        if !wish.fresh
            && let Some(kind) = self.waiting(wish)
        {
            return Ok(Lease { kind, is_reused: true, pool: self.clone() });
        }
        let opening = tokio::time::timeout(patience, self.open(target, wish));
        tokio::pin!(opening);
        // In a burst one that becomes free is often faster than a new one, and spares the upstream thousands.
        loop {
            tokio::select! {
                opened = &mut opening => return match opened {
                    Ok(Ok((kind, is_reused))) => Ok(Lease { kind, is_reused, pool: self.clone() }),
                    Ok(Err(error)) => {
                        tracing::debug!(%error, target = target.url, "no connection");
                        Err(if is_short(&error) { Broken::Short } else { Broken::Unreachable })
                    }
                    Err(_elapsed) => Err(Broken::Unreachable),
                },
                () = self.returned.notified(), if !wish.fresh => {
                    if let Some(kind) = self.just_returned(wish).await {
                        return Ok(Lease { kind, is_reused: true, pool: self.clone() });
                    }
                }
            }
        }
    }

    /// hyper may need a turn or two to find that a connection's last request is over.
    async fn just_returned(&self, wish: Wish) -> Option<Kind> {
        for _ in 0..3 {
            if let Some(kind) = self.waiting(wish) {
                return Some(kind);
            }
            tokio::task::yield_now().await;
        }
        None
    }

    fn waiting(&self, wish: Wish) -> Option<Kind> {
        if !wish.only_http1
            && let Some(sender) = self.share()
        {
            return Some(Kind::Http2(sender));
        }
        self.idle().map(Kind::Http1)
    }

    async fn open(
        &self,
        target: &Target,
        wish: Wish,
    ) -> Result<(Kind, bool), Box<dyn std::error::Error + Send + Sync>> {
        let is_shared = target.protocol == Protocol::Http2 && !wish.fresh;
        let _turn = match is_shared {
            true => Some(self.opening.lock().await),
            false => None,
        };
        if is_shared && let Some(sender) = self.share() {
            return Ok((Kind::Http2(sender), true));
        }
        Ok(match self.dialer.connect(target, wish.only_http1).await? {
            Fresh::Http1(connection) => (Kind::Http1(connection), false),
            Fresh::Http2(sender) => {
                *lock(&self.shared) = Some(Shared { sender: sender.clone(), used: Instant::now() });
                (Kind::Http2(sender), false)
            }
        })
    }

    /// The one that was used last and is ready. One that is still busy with the end of its last request is passed over.
    fn idle(&self) -> Option<Http1> {
        let mut idle = lock(&self.idle);
        let mut at = idle.len();
        while at > 0 {
            at -= 1;
            let sender = &idle[at].connection.sender;
            if sender.is_closed() {
                idle.remove(at);
            } else if sender.is_ready() {
                return idle.remove(at).map(|idle| idle.connection);
            }
        }
        None
    }

    fn share(&self) -> Option<http2::SendRequest<Body>> {
        let mut shared = lock(&self.shared);
        if shared.as_ref().is_some_and(|shared| shared.sender.is_closed()) {
            *shared = None;
        }
        let shared = shared.as_mut()?;
        shared.used = Instant::now();
        Some(shared.sender.clone())
    }

    fn tidy(&self) {
        lock(&self.idle).retain(|idle| !idle.connection.sender.is_closed() && idle.since.elapsed() < IDLE);
        let mut shared = lock(&self.shared);
        // The connection itself ends with the last of the requests that are on it.
        if shared.as_ref().is_some_and(|shared| shared.used.elapsed() >= IDLE) {
            *shared = None;
        }
    }
}

async fn tidy(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE / 4).await;
        match pool.upgrade() {
            Some(pool) => pool.tidy(),
            None => return,
        }
    }
}

impl Lease {
    /// The answer has come whole. `all_sent`: so has the request gone, as far as is known; a connection that an upstream
    /// answered before it had the whole request is closed (RFC 9112 §9.3).
    pub fn give_back(mut self, all_sent: bool) {
        let Kind::Http1(connection) = std::mem::replace(&mut self.kind, Kind::Gone) else { return };
        if connection.sender.is_closed() {
            return;
        }
        if !connection.sender.is_ready() && !all_sent {
            return connection.task.abort();
        }
        let mut idle = lock(&self.pool.idle);
        if idle.len() < MOST_IDLE {
            idle.push_back(Idle { connection, since: Instant::now() });
            drop(idle);
            self.pool.returned.notify_one();
        }
    }

    /// The connection speaks another protocol from now on.
    pub fn upgraded(mut self) {
        self.kind = Kind::Gone;
    }
}

impl Drop for Lease {
    /// Given up half-way: the upstream learns it at once. (An HTTP/2 stream is reset by hyper.)
    fn drop(&mut self) {
        if let Kind::Http1(connection) = &self.kind {
            connection.task.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
