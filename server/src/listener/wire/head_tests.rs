use super::*;

fn judged(lines: &[&str]) -> Result<Result<Follows, Fault>, Fault> {
    let head = [lines.join("\r\n"), "\r\n\r\n".into()].concat();
    judge(head.as_bytes()).map(|judged| judged.map_err(|refused| refused.fault))
}

/// A POST with these headers.
fn post(fields: &[&str]) -> Result<Result<Follows, Fault>, Fault> {
    judged(&[&["POST /api/x HTTP/1.1", "Host: a"], fields].concat())
}

fn is_bad_request(judged: Result<Result<Follows, Fault>, Fault>) -> bool {
    matches!(judged, Ok(Err(Fault::Refused { outcome: Outcome::BadRequest, .. })))
}

#[test]
fn one_plain_length_or_one_plain_chunked_passes() {
    assert_eq!(post(&[]), Ok(Ok(Follows::Nothing)));
    assert_eq!(post(&["Content-Length: 0"]), Ok(Ok(Follows::Nothing)));
    assert_eq!(post(&["content-length:\t12 "]), Ok(Ok(Follows::Bytes(12))));
    assert_eq!(post(&["Transfer-Encoding: Chunked"]), Ok(Ok(Follows::Chunks)));
    assert_eq!(post(&["Connection: upgrade", "Upgrade: websocket"]), Ok(Ok(Follows::Upgrade)));
}

#[test]
fn every_other_way_to_say_a_length_is_refused() {
    for fields in [
        &["Content-Length: 5", "Content-Length: 5"][..],
        &["Content-Length: 5", "Content-Length: 6"],
        &["Content-Length: 5, 5"],
        &["Content-Length: +5"],
        &["Content-Length: -5"],
        &["Content-Length: 05"],
        &["Content-Length: 00"],
        &["Content-Length: 0x5"],
        &["Content-Length: 5 5"],
        &["Content-Length: 5;"],
        &["Content-Length:"],
        &["Content-Length: 18446744073709551616"],
        &["Content-Length: 18446744073709551615"],
        &["Content-Length: 5", "Transfer-Encoding: chunked"],
        &["Transfer-Encoding: chunked", "Content-Length: 5"],
        &["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        &["Transfer-Encoding: identity", "Transfer-Encoding: chunked"],
        &["Transfer-Encoding: gzip, chunked"],
        &["Transfer-Encoding: chunked, identity"],
        &["Transfer-Encoding: chunked;a=b"],
        &["Transfer-Encoding: xchunked"],
        &["Transfer-Encoding: \"chunked\""],
        &["Transfer-Encoding:"],
    ] {
        assert!(is_bad_request(post(fields)), "{fields:?}");
    }
    assert!(is_bad_request(judged(&["POST / HTTP/1.0", "Transfer-Encoding: chunked"])));
}

#[test]
fn a_first_line_is_method_target_and_version_with_one_space_between() {
    for line in [
        "GET /",
        "GET",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET / a HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "G@T / HTTP/1.1",
        "GET / http/1.1",
        "GET / HTTP/1",
        "GET / HTTP/1.10",
        "GET / HTTP/01.1",
        "GET / XTTP/1.1",
    ] {
        assert_eq!(judged(&[line, "Host: a"]), Err(fault::REQUEST_LINE), "{line}");
    }
    for line in ["GET / HTTP/2.0", "GET / HTTP/1.2", "GET / HTTP/0.9", "GET / HTTP/3.0"] {
        assert_eq!(judged(&[line, "Host: a"]), Err(fault::VERSION), "{line}");
    }
    for line in ["GET api HTTP/1.1", "GET a.example:80 HTTP/1.1", "GET ftp://a/ HTTP/1.1", "GET ?a HTTP/1.1"]
    {
        assert_eq!(judged(&[line, "Host: a"]), Err(fault::TARGET), "{line}");
    }
    for line in ["OPTIONS * HTTP/1.1", "GET http://a/x HTTP/1.1", "GET HTTPS://a HTTP/1.0"] {
        assert_eq!(judged(&[line, "Host: a"]), Ok(Ok(Follows::Nothing)), "{line}");
    }
}

#[test]
fn header_lines_are_neither_folded_nor_spaced_nor_split_by_cr() {
    for (line, expected) in [
        ("X : a", fault::FIELD_LINE),
        (" X: a", fault::FIELD_LINE),
        ("X: a\r\n b", fault::FIELD_LINE),
        ("X\u{e9}: a", fault::FIELD_LINE),
        ("no colon", fault::FIELD_LINE),
        (": empty", fault::FIELD_LINE),
        ("X: a\rY: b", fault::BARE_CR),
        ("X: a\0b", fault::FIELD_VALUE),
        ("X: a\x7fb", fault::FIELD_VALUE),
    ] {
        assert_eq!(post(&[line]), Err(expected), "{line:?}");
    }
    assert_eq!(post(&["X: caf\u{e9}", "Y:", "Z: a\tb"]), Ok(Ok(Follows::Nothing)));
}

#[test]
fn a_target_with_odd_bytes_is_cut_before_them_for_the_books() {
    for (target, outcome, kept) in [
        (&b"/api/caf\xc3\xa9"[..], Outcome::BadPath, "/api/caf"),
        (b"/api/\xff", Outcome::BadPath, "/api/"),
        (b"/api/a\x01b", Outcome::BadPath, "/api/a"),
        (b"/api/a\x7f", Outcome::BadPath, "/api/a"),
        (b"/api/a#b", Outcome::BadRequest, "/api/a"),
        (b"/api/a?<b>", Outcome::BadPath, "/api/a?"),
    ] {
        let head =
            [b"GET ", target, b" HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nX: y\r\n\r\n"].concat();
        let refused = judge(&head).expect("a request").expect_err("to be refused");
        assert!(matches!(refused.fault, Fault::Refused { outcome: o, .. } if o == outcome), "{target:?}");
        let expected = format!("GET {kept} HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n");
        assert_eq!(String::from_utf8_lossy(&refused.instead), expected);
    }
}
