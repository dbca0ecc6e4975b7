use proptest::prelude::*;

use super::*;

/// Feeds `text` in pieces of `size`; returns what hyper would read, and the fault.
fn feed(text: &[u8], size: usize) -> (String, Option<Found>, Input) {
    let (mut input, mut given, mut found) = (Input::default(), Vec::new(), None);
    for piece in text.chunks(size) {
        found = input.take(piece, &mut |bytes| given.extend_from_slice(bytes)).or(found);
    }
    (String::from_utf8_lossy(&given).into_owned(), found, input)
}

const GET: &str = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &str = "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const CHUNKED_HEAD: &str = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
const CHUNKED: &str =
    "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nT: 1\r\n\r\n";

#[test]
fn requests_on_one_connection_are_passed_on_unchanged_however_they_are_cut() {
    let text = [GET, POST, CHUNKED, "\r\n", GET].concat();
    for size in [1, 2, 3, 7, 50, text.len()] {
        let (given, found, input) = feed(text.as_bytes(), size);
        assert_eq!(given, [GET, POST, CHUNKED, GET].concat(), "{size}");
        assert_eq!((found, input.heads, input.is_within_head()), (None, 4, false), "{size}");
    }
}

#[test]
fn nothing_behind_a_fault_is_passed_on() {
    let smuggled =
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for size in [1, 5, 4096] {
        let (given, found, input) = feed([GET, smuggled, GET].concat().as_bytes(), size);
        assert_eq!(given, [GET, "POST /x HTTP/1.1\r\nHost: a\r\n\r\n"].concat());
        assert!(matches!(found, Some((2, Fault::Refused { .. }))), "{found:?}");
        assert!(input.is_within_body());
        let (given, found, _) = feed([POST, "GET / HTTP/1.1\n\n", GET].concat().as_bytes(), size);
        assert_eq!(given.as_bytes(), [POST.as_bytes(), NO_REQUEST].concat());
        assert_eq!(found, Some((2, fault::BARE_LF)));
    }
}

#[test]
fn a_malformed_chunk_breaks_the_body_off() {
    let (given, found, input) = feed(CHUNKED.replace("0\r\nT", "0\nT").as_bytes(), 1);
    assert!(given.ends_with("hello\r\n0"), "{given}");
    assert!(found == Some((1, fault::CHUNKS)) && input.is_broken());
}

#[test]
fn http_2_is_known_by_its_preface_and_left_alone() {
    let text = [PREFACE, b"\0\0\0\x04\0\0\0\0\0"].concat();
    for size in [1, 10, 24, 33] {
        let (given, found, input) = feed(&text, size);
        assert_eq!(given.as_bytes(), text, "{size}");
        assert!(found.is_none() && matches!(input.state, State::Raw));
    }
    let (_, found, _) = feed(b"PRI * HTTP/1.1\r\nHost: a\r\n\r\n", 4);
    assert_eq!(found, None, "an odd request, but a request");
}

#[test]
fn what_follows_a_request_for_an_upgrade_waits_for_the_answer() {
    let upgrade = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    let (given, _, mut input) = feed([upgrade, GET].concat().as_bytes(), 9);
    assert_eq!(given, upgrade);
    let mut rest = Vec::new();
    assert_eq!(input.declined(&mut |bytes| rest.extend_from_slice(bytes)), None);
    assert_eq!(rest, GET.as_bytes());

    let (_, _, mut input) = feed([upgrade.as_bytes(), b"\x81\n\xff"].concat().as_slice(), 9);
    let mut rest = Vec::new();
    input.switched(&mut |bytes| rest.extend_from_slice(bytes));
    input.take(b"\n\n", &mut |bytes| rest.extend_from_slice(bytes));
    assert_eq!(rest, b"\x81\n\xff\n\n");
}

#[test]
fn empty_lines_before_a_request_do_not_begin_one() {
    let (given, found, mut input) = feed(b"\r\n\r\n", 1);
    assert_eq!((given.as_str(), found, input.is_within_head()), ("", None, false));
    let mut rest = Vec::new();
    input.take(GET.as_bytes(), &mut |bytes| rest.extend_from_slice(bytes));
    assert_eq!(rest, GET.as_bytes());
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        text in proptest::collection::vec(
            prop_oneof![
                Just(GET), Just(POST), Just(CHUNKED), Just("\r\n"), Just("\n"), Just("0\r\n\r\n"), Just("5\r\n"),
                Just("Transfer-Encoding: chunked\r\n"), Just(CHUNKED_HEAD), Just("GET /"), Just(" HTTP/1.1\r\n"), Just("\r")
            ],
            1..8,
        ),
        size in 1usize..40,
    ) {
        let text = text.concat();
        let (whole, cut) = (feed(text.as_bytes(), text.len()), feed(text.as_bytes(), size));
        prop_assert_eq!(&whole.1, &cut.1);
        // Of a body that turns out to be malformed it may be more or less that has gone by then.
        let same = if cut.2.is_broken() { cut.0.starts_with(&whole.0) } else { cut.0 == whole.0 };
        prop_assert!(same, "{:?} and {:?}", whole.0, cut.0);
    }
}
