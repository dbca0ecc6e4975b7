//! The header that carries the key.

use http::HeaderMap;
use http::header::AUTHORIZATION;

const X_API_KEY: &str = "x-api-key";

pub enum Presented {
    Nothing,
    /// More than one, or not text.
    Twice,
    Key(String),
}

/// Takes the key out of the headers: `X-Api-Key`, else `Authorization: Bearer toll_…`. Any other `Authorization`
/// stays for the upstream.
pub fn take(headers: &mut HeaderMap) -> Presented {
    let bearer = bearer_key(headers);
    if bearer.is_some() {
        headers.remove(AUTHORIZATION);
    }
    let mut keys = headers.get_all(X_API_KEY).iter();
    let presented = match (keys.next(), keys.next()) {
        (None, _) => bearer.map_or(Presented::Nothing, Presented::Key),
        (Some(_), Some(_)) => Presented::Twice,
        (Some(key), None) => match key.to_str() {
            Ok("") => bearer.map_or(Presented::Nothing, Presented::Key),
            Ok(key) => Presented::Key(key.to_owned()),
            Err(_) => Presented::Twice,
        },
    };
    headers.remove(X_API_KEY);
    presented
}

/// The scheme is case-insensitive (RFC 9110 §11.1).
fn bearer_key(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_start();
    (scheme.eq_ignore_ascii_case("bearer") && token.starts_with("toll_")).then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        headers
    }

    fn key(presented: Presented) -> Option<String> {
        match presented {
            Presented::Key(key) => Some(key),
            _ => None,
        }
    }

    #[test]
    fn no_key_stays_in_the_headers_and_a_foreign_authorization_does() {
        let mut both = headers(&[("x-api-key", "toll_a"), ("authorization", "Bearer toll_b")]);
        assert_eq!(key(take(&mut both)).as_deref(), Some("toll_a"));
        assert!(both.is_empty());

        let mut foreign = headers(&[("x-api-key", "toll_a"), ("authorization", "Basic Zm9v")]);
        assert_eq!(key(take(&mut foreign)).as_deref(), Some("toll_a"));
        assert_eq!(foreign.get("authorization").map(|v| v.as_bytes()), Some(&b"Basic Zm9v"[..]));
    }

    #[test]
    fn bearer_is_a_key_only_if_it_looks_like_one() {
        assert_eq!(
            key(take(&mut headers(&[("authorization", "bEARER  toll_x")]))).as_deref(),
            Some("toll_x")
        );
        assert!(matches!(take(&mut headers(&[("authorization", "Bearer eyJh")])), Presented::Nothing));
        assert!(matches!(take(&mut headers(&[("x-api-key", "a"), ("x-api-key", "b")])), Presented::Twice));
        assert!(matches!(take(&mut headers(&[])), Presented::Nothing));
    }
}
