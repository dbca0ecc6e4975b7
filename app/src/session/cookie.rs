//! The cookies that carry tokens: a session's, and a browser's that is known.

use http::HeaderMap;
use http::header::COOKIE;

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cookie {
    Session,
    /// A browser in which somebody has signed in; opens nothing.
    Device,
}

/// All names; the gateway passes none on to an upstream, nor lets one set them.
pub const COOKIE_NAMES: [&str; 4] =
    ["toll_session", "__Host-toll_session", "toll_device", "__Host-toll_device"];

impl Cookie {
    /// Browsers take a name with `__Host-` only over https, for the whole host, from the host itself.
    fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Cookie::Session, false) => COOKIE_NAMES[0],
            (Cookie::Session, true) => COOKIE_NAMES[1],
            (Cookie::Device, false) => COOKIE_NAMES[2],
            (Cookie::Device, true) => COOKIE_NAMES[3],
        }
    }
}

/// The token in a request, if there is one of the right form.
pub fn read(headers: &HeaderMap, cookie: Cookie, secure: bool) -> Option<String> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, token)| *key == cookie.name(secure) && is_token(token))
        .map(|(_, token)| token.to_owned())
}

fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A `Set-Cookie` value that gives the token to the browser for `seconds`; an empty token and 0 take it away.
pub fn write(cookie: Cookie, token: &str, seconds: u32, secure: bool) -> String {
    let name = cookie.name(secure);
    let more = if secure { "; Secure" } else { "" };
    format!("{name}={token}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_that_was_written_is_read_back_and_one_of_another_form_is_not() {
        let token = "0123456789abcdef".repeat(4);
        for secure in [false, true] {
            let written = write(Cookie::Session, &token, 60, secure);
            let pair = written.split(';').next().unwrap_or_default().to_owned();
            let headers = |value: String| {
                let mut headers = HeaderMap::new();
                headers.insert(COOKIE, value.parse().expect("ascii"));
                headers
            };
            assert_eq!(read(&headers(format!("a=b; {pair}")), Cookie::Session, secure), Some(token.clone()));
            assert_eq!(read(&headers(pair.clone()), Cookie::Session, !secure), None);
            assert_eq!(read(&headers(pair.clone()), Cookie::Device, secure), None);
            assert_eq!(read(&headers(pair.replace("0123", "xyz!")), Cookie::Session, secure), None);
            assert_eq!(written.contains("; Secure"), secure);
        }
    }
}
