//! Paths, urls and headers that are refused, with the reason.

use toll::manifest::file;

const UPSTREAM: &str = "[[upstream]]\nname = \"a\"\nurls = [\"http://h:1\"]\n";
const ROUTE: &str =
    "[[upstream]]\nname = \"a\"\nurls = [\"http://h:1\"]\n[[route]]\nname = \"r\"\nupstream = \"a\"\n";

/// Each `bad` in place of the one value that `text` leaves open, with the reason that is told.
fn judges(text: &str, line: usize, cases: &[(&str, &str)]) {
    for (bad, reason) in cases {
        let text = text.replace("VALUE", bad);
        let problems = file::read(&text).problems;
        let [problem] = problems.as_slice() else { panic!("{text}\n{problems:?}") };
        assert_eq!(problem.line, line, "{text}");
        assert!(problem.message.contains(reason), "{}\n{reason}", problem.message);
        assert!(!problem.message.contains('\n'), "{}", problem.message);
    }
}

#[test]
fn paths_that_no_request_could_match_are_refused() {
    let cases = [
        ("", "does not begin with"),
        ("orders", "does not begin with"),
        ("/orders/", "ends with \"/\""),
        ("/a//b", "empty segment"),
        ("//", "empty segment"),
        ("/a/../b", "dot segment"),
        ("/.", "dot segment"),
        ("/a/%2E%2e", "dot segment"),
        ("/a%2f..%2Fb", "dot segment"),
        ("/a%5c..", "dot segment"),
        ("/a?b", "query"),
        ("/a#b", "fragment"),
        ("/a b", "a space"),
        ("/caf\u{e9}", "outside ASCII"),
        ("/a\\tb", "a control"),
        ("/a\\\\b", "a \"\\\""),
    ];
    judges(&format!("{ROUTE}path = \"VALUE\"\n"), 7, &cases);
}

#[test]
fn urls_that_no_upstream_could_have_are_refused() {
    let cases = [
        ("", "is no upstream's url"),
        ("127.0.0.1:9000", "is no upstream's url"),
        ("/orders", "none of http://, https:// and h2c://"),
        ("ftp://h", "none of http://, https:// and h2c://"),
        ("http://", "is no upstream's url"),
        ("http://:80", "no host"),
        ("http://[::1", "is no upstream's url"),
        ("http://[zz]:1", "no host"),
        ("http://h%41:1", "is no upstream's url"),
        ("http://h:0", "port"),
        ("http://h:65536", "port"),
        ("http://h:+1", "is no upstream's url"),
        ("http://me:secret@h", "user or password"),
        ("http://h?a=1", "query"),
        ("http://h/#top", "fragment"),
        ("http://h/a//b", "not normal"),
        ("http://h//", "not normal"),
        ("http://h/../b", "not normal"),
        ("http://h h", "is no upstream's url"),
        ("http://h\", \"http://h/", "stands there twice"),
    ];
    judges("[[upstream]]\nname = \"a\"\nurls = [\"VALUE\"]\n", 3, &cases);
    let health = [("healthz", "no health check"), ("/a b", "no health check"), ("/a#b", "no health check")];
    judges(&format!("{UPSTREAM}health = \"VALUE\"\n"), 4, &health);
}

#[test]
fn headers_that_an_upstream_must_not_be_sent_are_refused() {
    let names = [
        ("Host", "Toll itself"),
        ("connection", "Toll itself"),
        ("Transfer-Encoding", "Toll itself"),
        ("Content-Length", "Toll itself"),
        ("upgrade", "Toll itself"),
        ("X-Toll-Partner", "Toll itself"),
        ("x-request-id", "Toll itself"),
        ("X Y", "no header name"),
        ("", "no header name"),
    ];
    judges(&format!("{UPSTREAM}headers = {{ \"VALUE\" = \"x\" }}\n"), 4, &names);
    let values = [
        ("", "is empty"),
        (" x", "begins or ends with a space"),
        ("${TOKEN", "never closed"),
        ("a ${} b", "names no variable"),
        ("${1A}", "names no variable"),
        ("${A B}", "names no variable"),
        ("${A-B}", "names no variable"),
        ("a\\nb", "no header can carry"),
        ("\u{fc}", "no header can carry"),
    ];
    judges(&format!("{UPSTREAM}headers = {{ A = \"VALUE\" }}\n"), 4, &values);
    judges(&format!("{UPSTREAM}headers = {{ A = \"x\", VALUE = \"y\" }}\n"), 4, &[("a", "different cases")]);
    let secret = file::read(&format!("{UPSTREAM}headers = {{ A = \"s3cr\u{e9}t\" }}\n")).problems;
    assert!(!format!("{secret:?}").contains("s3cr"), "a value may be a secret");
}
