//! The cookie that carries a session's token.

use http::HeaderMap;
use http::header::COOKIE;

const PLAIN: &str = "toll_session";
/// Browsers take this name only over https, for the whole host, from the host itself.
const HOST_BOUND: &str = "__Host-toll_session";

/// Both names; the gateway passes neither on to an upstream, nor lets one set them.
pub const COOKIE_NAMES: [&str; 2] = [PLAIN, HOST_BOUND];

fn name(secure: bool) -> &'static str {
    if secure { HOST_BOUND } else { PLAIN }
}

/// The token in a request, if there is one of the right form.
pub fn read(headers: &HeaderMap, secure: bool) -> Option<String> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, token)| *key == name(secure) && is_token(token))
        .map(|(_, token)| token.to_owned())
}

fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A `Set-Cookie` value that gives the token to the browser for `seconds`; an empty token and 0 take it away.
pub fn write(token: &str, seconds: u32, secure: bool) -> String {
    let name = name(secure);
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
            let written = write(&token, 60, secure);
            let pair = written.split(';').next().unwrap_or_default().to_owned();
            let headers = |value: String| {
                let mut headers = HeaderMap::new();
                headers.insert(COOKIE, value.parse().expect("ascii"));
                headers
            };
            assert_eq!(read(&headers(format!("a=b; {pair}")), secure), Some(token.clone()));
            assert_eq!(read(&headers(pair.clone()), !secure), None);
            assert_eq!(read(&headers(pair.replace("0123", "xyz!")), secure), None);
            assert_eq!(written.contains("; Secure"), secure);
        }
    }
}
