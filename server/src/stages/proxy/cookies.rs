//! The portal's cookies stay in the portal: they never go upstream, and no upstream can set them.

use app::session::COOKIE_NAMES;
use http::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE};

/// Judged as bytes: a value that is no text must not hide the pair beside it.
fn is_session(pair: &[u8]) -> bool {
    let name = pair.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    COOKIE_NAMES.iter().any(|ours| ours.as_bytes() == name)
}

fn pairs(value: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    value.as_bytes().split(|byte| *byte == b';')
}

/// From a request's `Cookie`; the other cookies pass.
pub fn remove_session(headers: &mut HeaderMap) {
    filter(headers, COOKIE, |value| {
        if !pairs(value).any(is_session) {
            return Some(value.clone());
        }
        let others: Vec<&[u8]> =
            pairs(value).filter(|pair| !is_session(pair)).map(<[u8]>::trim_ascii).collect();
        (!others.is_empty()).then(|| HeaderValue::from_bytes(&others.join(&b"; "[..])).ok()).flatten()
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
        let sets_it = pairs(value).next().is_some_and(is_session);
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
    #[test]
    fn a_cookie_that_is_no_text_hides_none_beside_it() {
        let mut up = HeaderMap::new();
        up.insert(
            COOKIE,
            HeaderValue::from_bytes(b"a=\xff; toll_session=secret; toll_device=secret").expect("visible"),
        );
        remove_session(&mut up);
        assert_eq!(up[COOKIE].as_bytes(), b"a=\xff");
    }
}
