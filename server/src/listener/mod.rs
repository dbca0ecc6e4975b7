//! Sockets: a runtime and a listener for each gateway thread, on one port.

mod accept;
mod arriving;
mod builder;
pub mod callers;
mod interim;
pub mod peer;
mod serve;
mod tls;
pub mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::watch;

use crate::gateway::Gateway;
use crate::ledger::Ledger;
pub use accept::Bound;
pub use arriving::Arriving;
pub use serve::{Serves, Surface};
pub use tls::Tls;

/// How long requests that are inside may take after the signal to stop.
pub const GRACE: Duration = Duration::from_secs(30);

/// The threads of one address.
pub struct Listener {
    pub address: SocketAddr,
    threads: Vec<JoinHandle<()>>,
}

impl Listener {
    /// Starts a thread for each socket, which serves `surface` there.
    pub fn start(
        bound: Bound,
        surface: &Surface,
        tls: Option<Tls>,
        gateway: &Arc<Gateway>,
        ledger: &Ledger,
        stop: &watch::Receiver<bool>,
    ) -> io::Result<Listener> {
        let threads = bound
            .sockets
            .into_iter()
            .enumerate()
            .map(|(n, socket)| {
                let (surface, tls, gateway) = (surface.clone(), tls.clone(), gateway.clone());
                let (lane, stop) = (ledger.lane(n), stop.clone());
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                std::thread::Builder::new()
                    .name(format!("gateway-{n}"))
                    .spawn(move || accept::run(runtime, socket, surface, tls, &gateway, lane, stop))
            })
            .collect::<io::Result<_>>()?;
        Ok(Listener { address: bound.address, threads })
    }

    /// Waits until every thread has finished what was inside.
    pub fn join(self) {
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a gateway thread panicked");
            }
        }
    }
}
