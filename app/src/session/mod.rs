//! Who is asking.

use serde::{Deserialize, Serialize};

mod cookie;
mod request;
pub mod store;
pub mod viewer;

pub use cookie::COOKIE_NAMES;
pub use request::{
    browsers, client_address, device, end, enter, require_anybody, require_colleague, require_ops,
    require_partner, viewer,
};

/// A person who has signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    pub email: String,
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Ops,
    Partner { id: i64, slug: String, name: String, is_suspended: bool },
}

impl Viewer {
    /// Where this person starts.
    pub fn home(&self) -> &'static str {
        match self.role {
            Role::Ops => "/ops",
            Role::Partner { .. } => "/portal",
        }
    }
}

/// Where to go after signing in, if `next` is a page of this portal and nothing else: a path, never another host, never
/// a server function, and fit for a header.
pub fn safe_path(next: &str) -> Option<&str> {
    let is_path = next.starts_with('/') && !next.starts_with("//") && !next.contains('\\');
    let is_plain = next.bytes().all(|byte| byte.is_ascii_graphic()) && next.len() <= 2000;
    let is_page = !["/_fn", "/api", "/pkg"].iter().any(|other| next.starts_with(other));
    (is_path && is_plain && is_page && next != "/").then_some(next)
}

#[cfg(test)]
mod tests {
    use super::safe_path;

    #[test]
    fn only_a_page_of_this_portal_is_a_way_back() {
        for good in ["/ops", "/ops?last=6h", "/portal", "/r/0199f0a0"] {
            assert_eq!(safe_path(good), Some(good));
        }
        for bad in [
            "",
            "/",
            "ops",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "/ops\r\nSet-Cookie: a=b",
            "/öps",
            "/_fn/sign_out",
            "/api/orders",
            "javascript:alert(1)",
        ] {
            assert_eq!(safe_path(bad), None, "{bad:?}");
        }
    }
}
