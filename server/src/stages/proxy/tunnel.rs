//! An upgraded connection: bytes both ways until either side closes.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;

/// Both ends of a connection that is about to be upgraded. Travels in the response's extensions to the ledger's layer,
/// which keeps the books open until the tunnel is closed.
#[derive(Clone)]
pub struct Tunnel {
    ends: Arc<Mutex<Option<(OnUpgrade, OnUpgrade)>>>,
}

impl Tunnel {
    pub fn between(client: OnUpgrade, upstream: OnUpgrade) -> Tunnel {
        Tunnel { ends: Arc::new(Mutex::new(Some((client, upstream)))) }
    }

    /// Carries bytes until both directions are closed; returns how many came from the client and from the upstream.
    pub async fn run(self) -> (u64, u64) {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((client, upstream)) = ends else { return (0, 0) };
        let (Ok(client), Ok(upstream)) = tokio::join!(client, upstream) else { return (0, 0) };
        let (mut client, mut upstream) = (TokioIo::new(client), TokioIo::new(upstream));
        tokio::io::copy_bidirectional(&mut client, &mut upstream).await.unwrap_or_default()
    }
}
