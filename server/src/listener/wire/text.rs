//! Characters of HTTP/1 heads.

/// RFC 9110 §5.6.2.
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

pub fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().copied().all(is_token_byte)
}

/// RFC 9110 §5.5: visible characters, spaces, tabs, and bytes above ASCII.
pub fn is_field_value(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

/// Without the spaces and tabs around.
pub fn trim(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = text.iter().position(|byte| !is_blank(byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// Name and value of a header line without its CRLF; `None` if it is not one (RFC 9112 §5).
pub fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], trim(&line[colon + 1..]));
    is_token(name).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_a_name_without_whitespace_around_it() {
        assert_eq!(field(b"Host: a:1 "), Some((b"Host".as_slice(), b"a:1".as_slice())));
        assert_eq!(field(b"X:"), Some((b"X".as_slice(), b"".as_slice())));
        for line in [&b"Host : a"[..], b" Host: a", b"\tfold", b": a", b"Host", b"H\xc3\xb6st: a"] {
            assert_eq!(field(line), None, "{line:?}");
        }
    }
}
