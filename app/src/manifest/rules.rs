//! What a text of the file must look like. Each rule gives back what is wrong with the mend, in one line.

use std::net::Ipv6Addr;

use http::{HeaderName, Uri};

use crate::domain::title;

type Judged = Result<(), String>;

/// Names and slugs: they stand in commands, labels and paths of screens.
pub fn name(text: &str) -> Judged {
    let fits = (1..=63).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    fits.then_some(()).ok_or_else(|| {
        format!("{text:?} is no name: write 1 to 63 lower-case letters, digits, \"-\" and \"_\"")
    })
}

/// What people are called on screens.
pub fn title(text: &str) -> Judged {
    title::fits(text)
        .then_some(())
        .ok_or_else(|| format!("{text:?} is no name: write 1 to 100 visible characters in one line"))
}

/// A file that each node reads for itself.
pub fn file(text: &str) -> Judged {
    let fits = (1..=4096).contains(&text.len()) && !text.chars().any(char::is_control);
    fits.then_some(()).ok_or_else(|| format!("{text:?} is no path of a file; write such as \"ca.pem\""))
}

/// Where an upstream is: scheme, host, port and base path. Nothing else may be in it: what a request asks for comes after.
pub fn url(text: &str) -> Judged {
    let bad =
        |why: &str| format!("{text:?} is no upstream's url: {why}; write such as \"http://127.0.0.1:9000\"");
    if text.contains('#') {
        return Err(bad("it has a fragment"));
    }
    let uri: Uri = text.parse().map_err(|error| bad(&format!("{error}")))?;
    if !matches!(uri.scheme_str(), Some("http" | "https" | "h2c")) {
        return Err(bad("it begins with none of http://, https:// and h2c://"));
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        return Err(bad("it holds a user or password, which belong in headers"));
    }
    host_and_port(authority).map_err(bad)?;
    if uri.query().is_some() {
        return Err(bad("it has a query"));
    }
    match uri.path().strip_suffix('/').unwrap_or(uri.path()) {
        "" => Ok(()),
        base if base != "/" && path(base).is_ok() => Ok(()),
        _ => Err(bad("its path is not normal")),
    }
}

/// The prefix that a route answers to. Requests are compared byte for byte, so that one that is not normal never matches.
pub fn path(text: &str) -> Judged {
    let bad = |why: &str| Err(format!("{text:?} is no route's path: {why}; write such as \"/orders\""));
    if !text.starts_with('/') {
        return bad("it does not begin with \"/\"");
    }
    if text.contains(['?', '#']) {
        return bad("it has a query or a fragment");
    }
    if text.contains('\\') || !text.bytes().all(|b| b.is_ascii_graphic()) {
        return bad(
            "it holds a \"\\\", a space, a control or a character outside ASCII (those are written %C3%A9)",
        );
    }
    if text.contains("//") {
        return bad("it has an empty segment (\"//\")");
    }
    let plain = text.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    if plain.split('/').any(|segment| matches!(segment, "." | "..")) {
        return bad("it has a dot segment");
    }
    if text != "/" && text.ends_with('/') {
        return bad("it ends with \"/\"");
    }
    Ok(())
}

/// What a health check asks for: a path, with a query if need be.
pub fn health(text: &str) -> Judged {
    let fits = text.starts_with('/') && text.bytes().all(|b| b.is_ascii_graphic()) && !text.contains('#');
    fits.then_some(())
        .ok_or_else(|| format!("{text:?} is no health check: write a path in ASCII, such as \"/healthz\""))
}

pub fn method(text: &str) -> Judged {
    let fits = (1..=32).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'A'..=b'Z' | b'-' | b'_'))
        && text != "CONNECT";
    fits.then_some(()).ok_or_else(|| {
        format!(
            "{text:?} is no method that a route can take: write capitals, such as \"GET\"; CONNECT is refused"
        )
    })
}

/// As browsers write it in `Origin`: anything else would never be equal to one. `*` is every origin.
pub fn origin(text: &str) -> Judged {
    if text == "*" {
        return Ok(());
    }
    let bad = |why: &str| format!("{text:?} is no origin: {why}; write such as \"https://shop.example\"");
    let Some((scheme @ ("http" | "https"), rest)) = text.split_once("://") else {
        return Err(bad("it begins with neither http:// nor https://"));
    };
    if rest.contains(['/', '?', '#', '@']) {
        return Err(bad("it has more than scheme, host and port"));
    }
    if rest.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(bad("browsers write hosts in lower case"));
    }
    host_and_port(rest).map_err(bad)?;
    if rest.ends_with(if scheme == "http" { ":80" } else { ":443" }) && !rest.ends_with("::443") {
        return Err(bad("browsers leave out the usual port"));
    }
    Ok(())
}

/// A header that an upstream may be sent in addition.
pub fn header_name(text: &str) -> Judged {
    let Ok(header) = HeaderName::from_bytes(text.as_bytes()) else {
        return Err(format!(
            "{text:?} is no header name: write letters, digits and \"-\", such as \"X-Service-Token\""
        ));
    };
    let reserved = matches!(
        header.as_str(),
        "connection"
            | "keep-alive"
            | "proxy-connection"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "content-length"
            | "host"
            | "via"
            | "x-request-id"
    );
    if reserved || header.as_str().starts_with("x-toll-") {
        return Err(format!("{text:?} is a header that Toll itself sets or removes; leave it out"));
    }
    Ok(())
}

/// Text with `${VARIABLE}` in it, in characters that a header can carry. The value is not repeated: it may be a secret.
pub fn header_value(text: &str) -> Judged {
    for piece in template(text)? {
        if let Piece::Text(text) = piece
            && !text.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
        {
            return Err(
                "holds a character that no header can carry; write visible ASCII and spaces".to_owned()
            );
        }
    }
    if text.is_empty() || text.starts_with(' ') || text.ends_with(' ') {
        return Err("is empty, or begins or ends with a space; remove it".to_owned());
    }
    Ok(())
}

/// A piece of a header value as the file writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Text(&'t str),
    /// A variable of the environment of the node that sends the header.
    Variable(&'t str),
}

/// Takes a value apart. A `$` that no `{` follows is a plain character.
pub fn template(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        let Some((name, after)) = from[2..].split_once('}') else {
            return Err("has a \"${\" that is never closed; write \"${VARIABLE}\"".to_owned());
        };
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts_well || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(
                "names no variable in \"${…}\"; write letters, digits and \"_\", such as \"${TOKEN}\""
                    .to_owned(),
            );
        }
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Variable(name));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn host_and_port(authority: &str) -> Result<(), &'static str> {
    let port_at = match authority.rfind(']') {
        Some(end) => end + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(port_at);
    let is_host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.len() <= 253
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        }
    };
    if !is_host {
        return Err("it has no host that can be called");
    }
    match port.strip_prefix(':') {
        None => Ok(()),
        Some(digits)
            if digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok_and(|p| p > 0) =>
        {
            Ok(())
        }
        Some(_) => Err("its port is not 1 to 65535"),
    }
}
