//! Which paths are taken at all. What is taken is sent on byte for byte.

use http::Uri;

/// How often a path is decoded in search of dot segments: some servers decode more than once.
const DECODINGS: usize = 3;

/// Refuses dot segments in any spelling, backslashes, control and non-ASCII characters.
pub fn check(uri: &Uri) -> Result<(), &'static str> {
    let target = uri.path_and_query().map_or("", |pq| pq.as_str());
    if target.bytes().any(|b| !(0x21..=0x7e).contains(&b)) {
        return Err("the path or query holds a control or non-ASCII character; percent-encode it");
    }
    let path = uri.path();
    // Nearly every path: nothing to decode, no dot behind a slash.
    if !path.contains(['%', '\\']) && !path.contains("/.") {
        return Ok(());
    }
    let mut decoded = path.as_bytes().to_vec();
    for _ in 0..=DECODINGS {
        if decoded.contains(&b'\\') {
            return Err("the path holds a backslash");
        }
        if decoded.iter().any(|b| b.is_ascii_control()) {
            return Err("the path holds an encoded control character");
        }
        if decoded.split(|b| *b == b'/').any(is_dot_segment) {
            return Err("the path holds a `.` or `..` segment; send the path that it means");
        }
        let next = decode(&decoded);
        if next == decoded {
            return Ok(());
        }
        decoded = next;
    }
    Ok(())
}

/// `.` and `..`, also with parameters behind a semicolon, which some servers cut off.
fn is_dot_segment(segment: &[u8]) -> bool {
    let name = segment.split(|b| *b == b';').next().unwrap_or_default();
    matches!(name, b"." | b"..")
}

/// Percent-decoding that leaves what is not a whole escape.
fn decode(bytes: &[u8]) -> Vec<u8> {
    let hex = |b: u8| (b as char).to_digit(16).map(|digit| digit as u8);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%' && at + 2 < bytes.len())
            .then(|| Some(hex(bytes[at + 1])? << 4 | hex(bytes[at + 2])?))
            .flatten();
        match escape {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken(path: &str) -> bool {
        check(&path.parse().expect("a target")).is_ok()
    }

    #[test]
    fn dot_segments_are_refused_in_every_spelling() {
        for path in [
            "/a/../b",
            "/a/..",
            "/./a",
            "/a/%2e%2e/b",
            "/a/%2E./b",
            "/a/.%2e",
            "/a%2f..%2fb",
            "/a/%252e%252e/b",
            "/a/..;x=1/b",
            "/a/..%2fb",
            "/a\\b",
            "/a%5cb",
            "/a%5C..%5Cb",
            "/a/%25%32%65%25%32%65",
        ] {
            assert!(!taken(path), "{path}");
        }
    }

    #[test]
    fn control_characters_are_refused_and_encoded_letters_of_any_script_are_not() {
        for path in ["/a%00b", "/a%0d%0ab", "/a%7f"] {
            assert!(!taken(path), "{path}");
        }
        for path in [
            "/caf%C3%A9",
            "/a%2Fb",
            "/a//b",
            "/...",
            "/a.b",
            "/.well-known/x",
            "/..a",
            "/a%",
            "/100%25",
            "/'{}'",
        ] {
            assert!(taken(path), "{path}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_taken_decodes_to_no_dot_segment(segments in proptest::collection::vec("[a.%2eEfF;/]{0,6}", 1..6)) {
            let path = format!("/{}", segments.join("/"));
            if let Ok(uri) = path.parse::<Uri>()
                && check(&uri).is_ok()
            {
                let once = decode(uri.path().as_bytes());
                prop_assert!(!once.split(|b| *b == b'/').any(|s| s == b".." || s == b"."));
            }
        }
    }
}
