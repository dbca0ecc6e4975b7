//! Signals that ask a command to end: Ctrl-C, `kill`, and a terminal that was closed.

use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

pub struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
    came: bool,
}

impl Signals {
    /// From now on they end nothing by themselves. Only within a runtime.
    pub fn catch() -> std::io::Result<Signals> {
        Ok(Signals {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            came: false,
        })
    }

    /// Whether there was one.
    pub fn came(&self) -> bool {
        self.came
    }

    /// Waits for the next one. As shells have it, the exit code is its number and 128.
    pub async fn next(&mut self) -> ExitCode {
        let number = tokio::select! {
            _ = self.hangup.recv() => SignalKind::hangup(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
            _ = self.terminate.recv() => SignalKind::terminate(),
        };
        self.came = true;
        ExitCode::from(128 + number.as_raw_value() as u8)
    }
}

/// How far the end of the process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    NotYet,
    /// What is under way is finished.
    InOrder,
    /// Nothing is waited for.
    AtOnce,
}

/// Returns when the end has come so far.
pub async fn until(mut ending: watch::Receiver<Ending>, far: Ending) {
    let _never_again = ending.wait_for(|ending| *ending >= far).await;
}
