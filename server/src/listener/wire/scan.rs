//! Where a head ends. Lines are looked at once, however slowly their bytes come.

use std::ops::Range;

use super::fault::{self, Fault};
use super::head::LONGEST_METHOD;
use super::text::is_token_byte;

/// Of a first line: method, target and version. RFC 9112 §3 recommends to take 8000 bytes at least.
const LONGEST_FIRST_LINE: usize = 16 << 10;
pub const LARGEST_HEAD: usize = 64 << 10;
pub const MOST_HEADERS: usize = 100;

/// How far a text has been looked through.
#[derive(Debug, Default)]
pub struct Scan {
    /// Where the head begins: empty lines before it do not count (RFC 9112 §2.2).
    start: usize,
    /// Where the line begins that has not ended yet.
    line: usize,
    searched: usize,
    lines: usize,
}

impl Scan {
    /// The head's place in `text`, with the empty line at its end; `None` if that has not come yet. Called again with
    /// more of the same text, it goes on where it was.
    pub fn find(&mut self, text: &[u8]) -> Result<Option<Range<usize>>, Fault> {
        while let Some(at) = memchr::memchr(b'\n', &text[self.searched..]) {
            let end = self.searched + at;
            let line = text[self.line..end].strip_suffix(b"\r").ok_or(fault::BARE_LF)?;
            (self.line, self.searched) = (end + 1, end + 1);
            match (line.is_empty(), self.lines) {
                (true, 0) => self.start = self.line,
                (true, _) => return Ok(Some(self.start..self.line)),
                (false, _) => self.line_came(line)?,
            }
        }
        self.searched = text.len();
        self.rest_may_come(text)?;
        Ok(None)
    }

    /// Nothing but empty lines has come.
    pub fn is_blank(&self, text: &[u8]) -> bool {
        self.start == text.len()
    }

    fn line_came(&mut self, line: &[u8]) -> Result<(), Fault> {
        match self.lines {
            0 if !is_token_byte(line[0]) => return Err(fault::NOT_HTTP),
            0 if line.len() > LONGEST_FIRST_LINE => return Err(too_long(line)),
            n if n > MOST_HEADERS => return Err(fault::LONG_HEAD),
            _ => {}
        }
        self.lines += 1;
        if self.line - self.start > LARGEST_HEAD { Err(fault::LONG_HEAD) } else { Ok(()) }
    }

    /// Whether an unfinished line can still become a good one.
    fn rest_may_come(&self, text: &[u8]) -> Result<(), Fault> {
        let rest = &text[self.line..];
        match rest.first() {
            Some(first) if self.lines == 0 && *first != b'\r' && !is_token_byte(*first) => {
                Err(fault::NOT_HTTP)
            }
            _ if self.lines == 0 && rest.len() > LONGEST_FIRST_LINE => Err(too_long(rest)),
            _ if text.len() - self.start > LARGEST_HEAD => Err(fault::LONG_HEAD),
            _ => Ok(()),
        }
    }
}

/// A first line is, by its target, or by what cannot be a method.
fn too_long(line: &[u8]) -> Fault {
    let has_method = line.iter().take(LONGEST_METHOD + 1).any(|byte| *byte == b' ');
    if has_method { fault::LONG_TARGET } else { fault::REQUEST_LINE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &[u8]) -> Result<Option<Range<usize>>, Fault> {
        Scan::default().find(text)
    }

    #[test]
    fn a_head_ends_with_its_empty_line_and_begins_behind_leading_ones() {
        let text = b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        assert_eq!(find(text), Ok(Some(4..text.len() - 4)));
        let mut scan = Scan::default();
        assert_eq!(scan.find(&text[..2]), Ok(None));
        assert!(scan.is_blank(&text[..2]));
        for end in 3..text.len() - 4 {
            assert_eq!(scan.find(&text[..end]), Ok(None), "{end}");
        }
        assert_eq!(scan.find(text), Ok(Some(4..text.len() - 4)));
    }

    #[test]
    fn a_line_that_ends_with_lf_alone_is_refused_wherever_it_stands() {
        for text in ["GET / HTTP/1.1\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\n\r\n", "\nGET /", "G\n"] {
            assert_eq!(find(text.as_bytes()), Err(fault::BARE_LF), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_become_a_request_is_refused_before_its_end() {
        assert_eq!(find(b"\x16\x03\x01\x02\x00"), Err(fault::NOT_HTTP), "a TLS handshake");
        assert_eq!(find(b" GET / HTTP/1.1\r\n"), Err(fault::NOT_HTTP));
        let long = [b"GET /".as_slice(), &[b'a'; LONGEST_FIRST_LINE]].concat();
        assert_eq!(find(&long), Err(fault::LONG_TARGET));
        assert_eq!(find(&[b'A'; LONGEST_FIRST_LINE + 1]), Err(fault::REQUEST_LINE), "a method");
        let many = ["GET / HTTP/1.1\r\n", &"a: b\r\n".repeat(MOST_HEADERS + 1)].concat();
        assert_eq!(find(many.as_bytes()), Err(fault::LONG_HEAD));
        let large = ["GET / HTTP/1.1\r\na: ", &"b".repeat(LARGEST_HEAD)].concat();
        assert_eq!(find(large.as_bytes()), Err(fault::LONG_HEAD));
    }
}
