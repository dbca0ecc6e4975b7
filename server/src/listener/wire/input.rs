//! What hyper gets to read: the client's bytes, as long as they can be read in one way only.
//!
//! No I/O here. It follows where heads and bodies begin and end, and hands a head on only when it is whole and judged,
//! so that hyper's more lenient parser never sees what a stricter server behind it would read differently.

use super::chunks::Chunks;
use super::fault::{self, Fault};
use super::head::{Follows, judge};
use super::scan::{LARGEST_HEAD, Scan};

/// What a client of HTTP/2 begins with (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// What hyper reads when there was no request: the answer is the fault's.
const NO_REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: toll\r\n\r\n";

#[derive(Debug, Default)]
pub struct Input {
    state: State,
    /// A head that has not come whole, or what came early behind a request for an upgrade.
    held: Vec<u8>,
    scan: Scan,
    /// Heads handed on.
    heads: u64,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing is known yet; HTTP/2 says so at once.
    #[default]
    Start,
    Head,
    Bytes(u64),
    Chunks(Chunks),
    /// The upstream has not agreed to another protocol yet, nor declined.
    Upgrading,
    /// Not HTTP/1: passed on as it is.
    Raw,
    /// A chunk was malformed: the body cannot be read on.
    Broken,
    /// Nothing that comes now means anything.
    Over,
}

/// A fault, and in which head of the connection, counted from 1.
pub type Found = (u64, Fault);

impl Input {
    /// Takes what came and gives what may be read. After a fault nothing more is given.
    pub fn take(&mut self, mut bytes: &[u8], give: &mut impl FnMut(&[u8])) -> Option<Found> {
        while !bytes.is_empty() {
            let used = match &mut self.state {
                State::Start => match self.start(bytes, give) {
                    Some(()) => continue,
                    None => bytes.len(),
                },
                State::Head => match self.head(bytes, give) {
                    Ok(used) => used,
                    Err(fault) => {
                        (self.state, self.held) = (State::Over, Vec::new());
                        return Some((self.heads, fault));
                    }
                },
                State::Bytes(left) => {
                    let used = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= used as u64;
                    if *left == 0 {
                        self.state = State::Head;
                    }
                    give(&bytes[..used]);
                    used
                }
                State::Chunks(chunks) => match chunks.follow(bytes) {
                    Ok((used, is_done)) => {
                        if is_done {
                            self.state = State::Head;
                        }
                        give(&bytes[..used]);
                        used
                    }
                    Err(_malformed) => {
                        self.state = State::Broken;
                        return Some((self.heads, fault::CHUNKS));
                    }
                },
                State::Upgrading => {
                    self.held.extend_from_slice(bytes);
                    bytes.len()
                }
                State::Raw => {
                    give(bytes);
                    bytes.len()
                }
                State::Broken | State::Over => bytes.len(),
            };
            bytes = &bytes[used..];
        }
        None
    }

    /// HTTP/1 or HTTP/2? `None` if these bytes leave it open: then they are held.
    fn start(&mut self, bytes: &[u8], give: &mut impl FnMut(&[u8])) -> Option<()> {
        let begun = self.held.len();
        let common = bytes.len().min(PREFACE.len() - begun);
        if bytes[..common] != PREFACE[begun..begun + common] {
            self.state = State::Head;
            return Some(());
        }
        if begun + common == PREFACE.len() {
            self.state = State::Raw;
            give(&std::mem::take(&mut self.held));
            return Some(());
        }
        self.held.extend_from_slice(bytes);
        None
    }

    fn head(&mut self, bytes: &[u8], give: &mut impl FnMut(&[u8])) -> Result<usize, Fault> {
        // Nearly every head comes whole, and is judged where it lies.
        let mut held = std::mem::take(&mut self.held);
        let before = held.len();
        let text = if before == 0 {
            bytes
        } else {
            held.extend_from_slice(bytes);
            held.as_slice()
        };
        if let Some(place) = self.find(text, give)? {
            self.pass(&text[place.clone()], give)?;
            return Ok(place.end - before);
        }
        if self.scan.is_blank(text) {
            self.scan = Scan::default();
        } else {
            self.held = if before == 0 { bytes.to_vec() } else { held };
        }
        Ok(bytes.len())
    }

    fn find(
        &mut self,
        text: &[u8],
        give: &mut impl FnMut(&[u8]),
    ) -> Result<Option<std::ops::Range<usize>>, Fault> {
        self.scan.find(text).inspect_err(|_| self.no_request(give))
    }

    fn pass(&mut self, head: &[u8], give: &mut impl FnMut(&[u8])) -> Result<(), Fault> {
        self.scan = Scan::default();
        match judge(head) {
            Ok(Ok(follows)) => {
                self.heads += 1;
                give(head);
                self.state = match follows {
                    Follows::Nothing => State::Head,
                    Follows::Bytes(length) => State::Bytes(length),
                    Follows::Chunks => State::Chunks(Chunks::new()),
                    Follows::Upgrade => State::Upgrading,
                };
                Ok(())
            }
            Ok(Err(refused)) => {
                self.heads += 1;
                give(&refused.instead);
                Err(refused.fault)
            }
            Err(fault) => {
                self.no_request(give);
                Err(fault)
            }
        }
    }

    fn no_request(&mut self, give: &mut impl FnMut(&[u8])) {
        self.heads += 1;
        give(NO_REQUEST);
    }

    /// The time for a head that has begun is over.
    pub fn too_slow(&mut self, give: &mut impl FnMut(&[u8])) -> Found {
        self.no_request(give);
        (self.state, self.held) = (State::Over, Vec::new());
        (self.heads, fault::SLOW_HEAD)
    }

    /// What was asked for is agreed to: everything from here on is the other protocol's.
    pub fn switched(&mut self, give: &mut impl FnMut(&[u8])) {
        if self.is_upgrading() {
            self.state = State::Raw;
            give(&std::mem::take(&mut self.held));
        }
    }

    /// It is not agreed to: what follows is the next request.
    pub fn declined(&mut self, give: &mut impl FnMut(&[u8])) -> Option<Found> {
        if !self.is_upgrading() {
            return None;
        }
        self.state = State::Head;
        let held = std::mem::take(&mut self.held);
        self.take(&held, give)
    }

    /// Heads passed on so far, the last of which everything here is about.
    pub fn heads(&self) -> u64 {
        self.heads
    }

    pub fn is_upgrading(&self) -> bool {
        matches!(self.state, State::Upgrading)
    }

    pub fn awaits_preface(&self) -> bool {
        matches!(self.state, State::Start)
    }

    pub fn is_within_head(&self) -> bool {
        matches!(self.state, State::Head) && !self.held.is_empty()
    }

    /// The client owes more of a body, or has sent what nobody reads.
    pub fn is_within_body(&self) -> bool {
        matches!(self.state, State::Bytes(_) | State::Chunks(_) | State::Broken | State::Over)
    }

    pub fn is_broken(&self) -> bool {
        matches!(self.state, State::Broken)
    }

    /// Reads no more for now.
    pub fn is_full(&self) -> bool {
        matches!(self.state, State::Over) || (self.is_upgrading() && self.held.len() >= LARGEST_HEAD)
    }
}

#[cfg(test)]
#[path = "input_tests.rs"]
mod tests;
