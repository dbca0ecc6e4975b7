//! What is wrong with the bytes of a client.

use app::domain::outcome::Outcome;

/// Ends its connection: whatever follows could be read in more than one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A request, but not one that may be sent on. The route stage refuses it, so that it is in the books.
    Refused { outcome: Outcome, detail: &'static str },
    /// No request at all; counted as `unreadable`.
    Unreadable { status: u16, detail: &'static str },
}

impl Fault {
    pub(super) const fn unreadable(detail: &'static str) -> Fault {
        Fault::Unreadable { status: 400, detail }
    }

    pub(super) const fn bad_request(detail: &'static str) -> Fault {
        Fault::Refused { outcome: Outcome::BadRequest, detail }
    }
}

/// RFC 9112 §2.2 lets a recipient take a lone LF for a line's end; servers that do and servers that do not read
/// two different messages.
pub(super) const BARE_LF: Fault = Fault::unreadable("a line ends with LF alone; lines end with CRLF");
pub(super) const BARE_CR: Fault = Fault::unreadable("a CR stands without its LF");
pub(super) const NOT_HTTP: Fault = Fault::unreadable("this is not HTTP");
/// RFC 9112 §3: method, target and version, one space between.
pub(super) const REQUEST_LINE: Fault =
    Fault::unreadable("the first line must be `METHOD target HTTP/1.1`, with one space between");
/// RFC 9112 §3.2: a path, `*`, or a whole http URL.
pub(super) const TARGET: Fault = Fault::unreadable("the target must be a path, `*` or an http URL");
pub(super) const VERSION: Fault =
    Fault::Unreadable { status: 505, detail: "this gateway speaks HTTP/1.0, HTTP/1.1 and HTTP/2" };
/// RFC 9112 §5.1: no whitespace before the colon; §5.2: no folds.
pub(super) const FIELD_LINE: Fault =
    Fault::unreadable("a header line must be `Name: value`, without whitespace before the colon, unfolded");
pub(super) const FIELD_VALUE: Fault = Fault::unreadable("a header's value holds a control character");
/// RFC 9112 §7.1. One that is found later breaks the body off.
pub(super) const CHUNKS: Fault = Fault::bad_request("the body is not in well-formed chunks");
pub(super) const LONG_TARGET: Fault = Fault::Unreadable { status: 414, detail: "the first line is too long" };
pub(super) const LONG_HEAD: Fault =
    Fault::Unreadable { status: 431, detail: "the headers are too many or too long" };
pub(super) const SLOW_HEAD: Fault =
    Fault::Unreadable { status: 408, detail: "the rest of the headers did not come" };
