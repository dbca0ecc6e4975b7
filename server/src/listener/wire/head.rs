//! Whether a head can be read in one way only, and what follows it.
//!
//! hyper takes more than one way of saying how long a body is, as RFC 9112 §6.3 allows; a server behind may choose the
//! other one. So nothing but one plain `Content-Length` or one plain `chunked` passes here.

use app::domain::outcome::Outcome;
use http::Uri;

use super::fault::{self, Fault};
use super::text::{field, is_field_value, is_token};

/// No method that anybody registered is longer than half of this.
pub(super) const LONGEST_METHOD: usize = 40;

/// What comes behind a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    Nothing,
    Bytes(u64),
    Chunks,
    /// Whatever the upstream agrees to, or the next head if it does not.
    Upgrade,
}

/// A head that is to be refused in the books: hyper gets `instead`, which says nothing about a body.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    pub fault: Fault,
    pub instead: Vec<u8>,
}

/// Judges a whole head, with the empty line at its end. `Ok(Err(_))` is a request that must not go on.
pub fn judge(head: &[u8]) -> Result<Result<Follows, Refused>, Fault> {
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = RequestLine::read(lines.next().unwrap_or_default())?;
    let mut framing = Framing::default();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if line.contains(&b'\r') {
            return Err(fault::BARE_CR);
        }
        let (name, value) = field(line).ok_or(fault::FIELD_LINE)?;
        if !is_field_value(value) {
            return Err(fault::FIELD_VALUE);
        }
        framing.add(name, value);
    }
    match first.judge().and_then(|()| framing.judge(first.is_http_11)) {
        Ok(follows) => Ok(Ok(follows)),
        Err(fault) => Ok(Err(Refused { fault, instead: instead(&first, head) })),
    }
}

struct RequestLine<'h> {
    method: &'h [u8],
    target: &'h [u8],
    is_http_11: bool,
}

impl<'h> RequestLine<'h> {
    /// RFC 9112 §3: `method SP request-target SP HTTP-version`.
    fn read(line: &'h [u8]) -> Result<RequestLine<'h>, Fault> {
        if line.contains(&b'\r') {
            return Err(fault::BARE_CR);
        }
        let mut parts = line.splitn(3, |byte| *byte == b' ');
        let (Some(method), Some(target), Some(version)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(fault::REQUEST_LINE);
        };
        if !is_token(method) || method.len() > LONGEST_METHOD || target.is_empty() {
            return Err(fault::REQUEST_LINE);
        }
        let is_http_11 = match version {
            b"HTTP/1.1" => true,
            b"HTTP/1.0" => false,
            [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => return Err(fault::VERSION),
            _ => return Err(fault::REQUEST_LINE),
        };
        let is_known_form = match target {
            [b'/', ..] | b"*" => true,
            _ if method == b"CONNECT" => true,
            _ => [&b"http://"[..], b"https://"].iter().any(|scheme| starts_with(target, scheme)),
        };
        if is_known_form { Ok(RequestLine { method, target, is_http_11 }) } else { Err(fault::TARGET) }
    }

    fn judge(&self) -> Result<(), Fault> {
        if self.method == b"CONNECT" {
            return Err(Fault::bad_request("this gateway opens no tunnels"));
        }
        match self.first_odd_byte().map(|at| self.target[at]) {
            None => Ok(()),
            // A fragment is the client's own (RFC 9110 §4.2.4) and never part of a target.
            Some(b'#') => Err(Fault::bad_request("the target holds a fragment; it stays with the client")),
            Some(_) => {
                let detail = "the path or query holds a character that must be percent-encoded";
                Err(Fault::Refused { outcome: Outcome::BadPath, detail })
            }
        }
    }

    /// The first byte that no target may hold, as RFC 3986 has it, and as `http::Uri` does.
    fn first_odd_byte(&self) -> Option<usize> {
        let place = |is_odd: fn(u8) -> bool| self.target.iter().position(|byte| is_odd(*byte));
        let never = place(|byte| byte == b'#' || !(0x21..=0x7e).contains(&byte));
        // Some of these are taken in a path or in a query; not worth a second parsing of every target.
        let seldom = place(|byte| b"\"<>`^".contains(&byte)).filter(|_| Uri::try_from(self.target).is_err());
        never.into_iter().chain(seldom).min()
    }
}

fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    text.len() > prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

/// What a head says of its body.
#[derive(Default)]
struct Framing {
    lengths: usize,
    length: Option<u64>,
    codings: usize,
    is_chunked: bool,
    names_upgrade: bool,
}

impl Framing {
    fn add(&mut self, name: &[u8], value: &[u8]) {
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            self.length = plain_length(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.codings += 1;
            self.is_chunked = value.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"upgrade") {
            self.names_upgrade = true;
        }
    }

    fn judge(&self, is_http_11: bool) -> Result<Follows, Fault> {
        let follows = match (self.lengths, self.length, self.codings) {
            (0, _, 0) | (1, Some(0), 0) => Follows::Nothing,
            (1, Some(length), 0) => Follows::Bytes(length),
            (1, None, 0) => {
                return Err(Fault::bad_request("`Content-Length` must be a plain decimal number"));
            }
            (0, _, 1) if !is_http_11 => {
                return Err(Fault::bad_request("`Transfer-Encoding` needs HTTP/1.1"));
            }
            (0, _, 1) if self.is_chunked => Follows::Chunks,
            (0, _, _) => {
                return Err(Fault::bad_request("the one `Transfer-Encoding` that is taken is `chunked`"));
            }
            (_, _, 0) => return Err(Fault::bad_request("`Content-Length` must stand once")),
            // RFC 9112 §6.1: this may be an attempt at smuggling, and ought to be handled as an error.
            _ => {
                let detail = "`Content-Length` and `Transfer-Encoding` cannot both be true";
                return Err(Fault::bad_request(detail));
            }
        };
        let may_upgrade = self.names_upgrade && is_http_11 && follows == Follows::Nothing;
        Ok(if may_upgrade { Follows::Upgrade } else { follows })
    }
}

/// Digits without sign or leading zero, which others may read as octal, and no more than others can hold.
fn plain_length(value: &[u8]) -> Option<u64> {
    let is_plain = value == b"0" || (!value.starts_with(b"0") && value.iter().all(u8::is_ascii_digit));
    let length: u64 = std::str::from_utf8(value).ok().filter(|_| is_plain)?.parse().ok()?;
    (length <= i64::MAX as u64).then_some(length)
}

/// The head without what it says of its body and of the connection, so that the books can name what was asked for.
fn instead(first: &RequestLine, head: &[u8]) -> Vec<u8> {
    let mut instead = Vec::with_capacity(head.len());
    instead.extend_from_slice(first.method);
    instead.push(b' ');
    instead.extend_from_slice(&first.target[..first.first_odd_byte().unwrap_or(first.target.len())]);
    instead.extend_from_slice(if first.is_http_11 { b" HTTP/1.1\r\n" } else { b" HTTP/1.0\r\n" });
    let left_out = [&b"content-length"[..], b"transfer-encoding", b"expect", b"upgrade", b"connection"];
    let fields = head.split_inclusive(|byte| *byte == b'\n').skip(1);
    instead.extend(
        fields
            .filter(|line| {
                let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
                !left_out.iter().any(|other| name.eq_ignore_ascii_case(other))
            })
            .flatten(),
    );
    instead
}

#[cfg(test)]
#[path = "head_tests.rs"]
mod tests;
