//! Follows a chunked body (RFC 9112 §7.1) to its end, and takes it in its strict form only.

use super::extension::Extension;
use super::text::{field, is_field_value};

/// Of a chunk's size: as many digits as 64 bits have.
const MOST_DIGITS: u8 = 16;
/// Of all extensions of a body.
const LONGEST_EXTENSIONS: usize = 4 << 10;
const LARGEST_TRAILERS: usize = 8 << 10;

/// Where in the body the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Digits of the size that have come.
    Size(u8),
    Extension(Extension),
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailers,
}

#[derive(Debug)]
pub struct Chunks {
    at: At,
    /// Of the chunk, or what is left of it.
    size: u64,
    extensions: usize,
    trailers: Vec<u8>,
    trailers_seen: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Malformed;

impl Chunks {
    pub fn new() -> Chunks {
        Chunks { at: At::Size(0), size: 0, extensions: 0, trailers: Vec::new(), trailers_seen: 0 }
    }

    /// How many of `bytes` belong to the body, and whether it ends with them. On an error all before it were good, and
    /// nobody can say where the next request begins.
    pub fn follow(&mut self, bytes: &[u8]) -> Result<(usize, bool), Malformed> {
        let mut used = 0;
        while used < bytes.len() {
            if self.at == At::Data {
                let taken = self.size.min((bytes.len() - used) as u64);
                self.size -= taken;
                used += taken as usize;
                if self.size == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            let byte = bytes[used];
            used += 1;
            if self.step(byte)? {
                return Ok((used, true));
            }
        }
        Ok((used, false))
    }

    /// One byte that is not data; says whether it was the last of the body.
    fn step(&mut self, byte: u8) -> Result<bool, Malformed> {
        self.at = match (self.at, byte) {
            (At::Size(digits), byte) if byte.is_ascii_hexdigit() && digits < MOST_DIGITS => {
                let digit = (byte as char).to_digit(16).unwrap_or_default();
                self.size = self.size << 4 | u64::from(digit);
                At::Size(digits + 1)
            }
            (At::Size(1..), b'\r') => At::SizeLf,
            (At::Extension(at), b'\r') if at.may_end() => At::SizeLf,
            (At::Size(1..), byte) => self.extension_byte(Extension::Blank, byte)?,
            (At::Extension(at), byte) => self.extension_byte(at, byte)?,
            (At::SizeLf, b'\n') if self.size == 0 => At::Trailers,
            (At::SizeLf, b'\n') => At::Data,
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => At::Size(0),
            (At::Trailers, byte) => return self.trailer_byte(byte),
            _ => return Err(Malformed),
        };
        Ok(false)
    }

    fn extension_byte(&mut self, at: Extension, byte: u8) -> Result<At, Malformed> {
        self.extensions += 1;
        let fits = self.extensions <= LONGEST_EXTENSIONS;
        at.step(byte).filter(|_| fits).map(At::Extension).ok_or(Malformed)
    }

    /// Trailers are held to what holds for header lines.
    fn trailer_byte(&mut self, byte: u8) -> Result<bool, Malformed> {
        self.trailers_seen += 1;
        if self.trailers_seen > LARGEST_TRAILERS {
            return Err(Malformed);
        }
        if byte != b'\n' {
            self.trailers.push(byte);
            return Ok(false);
        }
        let line = self.trailers.strip_suffix(b"\r").ok_or(Malformed)?;
        let is_last = line.is_empty();
        let is_field = field(line).is_some_and(|(_, value)| is_field_value(value));
        self.trailers.clear();
        if is_last || is_field { Ok(is_last) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte by byte and at once; both must agree.
    fn follow(text: &str) -> Result<(usize, bool), Malformed> {
        let at_once = Chunks::new().follow(text.as_bytes());
        let mut slow = Chunks::new();
        let mut used = 0;
        let bit_by_bit = text.as_bytes().chunks(1).find_map(|byte| match slow.follow(byte) {
            Ok((n, done)) => {
                used += n;
                done.then_some(Ok((used, true)))
            }
            Err(malformed) => Some(Err(malformed)),
        });
        assert_eq!(at_once, bit_by_bit.unwrap_or(Ok((used, false))), "{text:?}");
        at_once
    }

    #[test]
    fn a_body_is_followed_to_its_last_byte_and_no_further() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "A\r\n0123456789\r\n000\r\n\r\n",
            "5;a=b;c\r\nhello\r\n0\r\n\r\n",
            "5 ; a=\"b c\"\r\nhello\r\n0\r\n\r\n",
            "5;a=\"\\\";\\\"\" ;b = c\r\nhello\r\n0;\tlast\r\n\r\n",
            "5\r\nhello\r\n0\r\nDigest: x\r\nOther:\r\n\r\n",
        ] {
            assert_eq!(follow(&format!("{body}GET / HTTP/1.1")), Ok((body.len(), true)), "{body:?}");
            assert_eq!(follow(&body[..body.len() - 1]), Ok((body.len() - 1, false)), "{body:?}");
        }
    }

    #[test]
    fn every_other_form_is_malformed() {
        for body in [
            "\r\n",
            "g\r\n",
            "-1\r\n",
            "+1\r\na\r\n",
            "0x5\r\nhello",
            " 5\r\nhello",
            "5 \r\nhello",
            "5\nhello",
            "5\r\nhelloX",
            "5\r\nhello\n0\r\n",
            "5\r\nhello\rX",
            "5;\r\nhello",
            "5;a\nhello",
            "5;a\0b\r\nhello",
            "5;a\rb\r\nhello",
            "5;a[=x\r\nhello",
            "5;a=\r\nhello",
            "5;a=[x\r\nhello",
            "5;a=b=c\r\nhello",
            "5;a=b;\r\nhello",
            "5;a b\r\nhello",
            "5;a \r\nhello",
            "5;=b\r\nhello",
            "5;a=\"b\r\nhello",
            "5;a=\"b\\\r\nhello",
            "5;a=\"b\"c\r\nhello",
            "5;a=\"\x01\"\r\nhello",
            "5 5\r\nhello",
            "5_0\r\n",
            "00000000000000005\r\nhello",
            "0\r\nno colon\r\n\r\n",
            "0\r\nX : a\r\n\r\n",
            "0\r\nX: a\n\r\n",
            "0\r\nX: a\r\n fold\r\n\r\n",
            "0\r\n\n",
        ] {
            assert_eq!(follow(body), Err(Malformed), "{body:?}");
        }
    }

    #[test]
    fn extensions_and_trailers_are_bounded() {
        assert_eq!(follow(&format!("5;{}\r\n", "a".repeat(LONGEST_EXTENSIONS))), Err(Malformed));
        assert_eq!(follow(&format!("0\r\na: {}", "b".repeat(LARGEST_TRAILERS))), Err(Malformed));
    }
}
