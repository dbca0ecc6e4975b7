//! The portal's session cookie stays in the portal: it never goes upstream, and no upstream can set it.

use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

const SESSION: [&str; 2] = ["toll_session", "__Host-toll_session"];

fn is_session(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default().trim();
    SESSION.contains(&name)
}

/// From a request's `Cookie`; the other cookies pass.
pub fn remove_session(headers: &mut HeaderMap) {
    filter(headers, COOKIE, |value| {
        let names_it = value.to_str().is_ok_and(|text| text.split(';').any(is_session));
        if !names_it {
            return Some(value.clone());
        }
        let text = value.to_str().ok()?;
        let others: Vec<&str> = text.split(';').filter(|pair| !is_session(pair)).map(str::trim).collect();
        (!others.is_empty()).then(|| HeaderValue::from_str(&others.join("; ")).ok()).flatten()
    });
}

/// HTTP/2 may cut `Cookie` in pieces; to others it must be one (RFC 9113 §8.2.3).
pub fn join(headers: &mut HeaderMap) {
    let pieces: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if pieces.len() > 1
        && let Ok(joined) = HeaderValue::from_bytes(&pieces.join(&b"; "[..]))
    {
        headers.insert(COOKIE, joined);
    }
}

/// From an upstream's `Set-Cookie`.
pub fn refuse_session(headers: &mut HeaderMap) {
    filter(headers, SET_COOKIE, |value| {
        let sets_it = String::from_utf8_lossy(value.as_bytes()).split(';').next().is_some_and(is_session);
        (!sets_it).then(|| value.clone())
    });
}

fn filter(
    headers: &mut HeaderMap,
    name: http::HeaderName,
    keep: impl Fn(&HeaderValue) -> Option<HeaderValue>,
) {
    if !headers.contains_key(&name) {
        return;
    }
    let kept: Vec<HeaderValue> = headers.get_all(&name).iter().filter_map(keep).collect();
    headers.remove(&name);
    for value in kept {
        headers.append(name.clone(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: http::HeaderName, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name.clone(), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn other_cookies_pass_up_and_down() {
        let mut up = with(COOKIE, &["a=1; toll_session=secret; b=2", "__Host-toll_session=secret"]);
        remove_session(&mut up);
        assert_eq!(up, with(COOKIE, &["a=1; b=2"]));
        let mut pieces = with(COOKIE, &["a=1", "b=2"]);
        join(&mut pieces);
        assert_eq!(pieces, with(COOKIE, &["a=1; b=2"]));
        let mut down =
            with(SET_COOKIE, &["toll_session=forged; Path=/", "x_toll_session=1", "a=toll_session=2"]);
        refuse_session(&mut down);
        assert_eq!(down, with(SET_COOKIE, &["x_toll_session=1", "a=toll_session=2"]));
    }
}
