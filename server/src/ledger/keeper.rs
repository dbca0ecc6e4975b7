//! A thread of its own that puts door and journal on the disk every so often, has the next segment ready, and writes down
//! the requests that were refused while there was no room.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::lane::Lane;

pub struct Keeper {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start(lanes: Vec<Arc<Lane>>, every: Duration) -> io::Result<Keeper> {
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::Builder::new().name("toll-ledger".into()).spawn(move || {
            let mut failing = false;
            loop {
                lanes.iter().for_each(|lane| lane.prepare());
                lanes.iter().for_each(|lane| lane.write_refused());
                let synced = lanes.iter().try_for_each(|lane| lane.sync());
                if let Err(error) = &synced
                    && !failing
                {
                    tracing::error!(%error, "the journal cannot be put on the disk");
                }
                failing = synced.is_err();
                if !matches!(stopped.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
            }
        })?;
        Ok(Keeper { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
