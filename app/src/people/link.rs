//! A link to hand on.

use serde::{Deserialize, Serialize};

/// Shown this once: whoever holds it sets a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneTimeLink {
    pub email: String,
    pub link: String,
    /// For so long it is good.
    pub hours: i32,
}

/// The link stays out of logs.
impl std::fmt::Debug for OneTimeLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OneTimeLink").field("email", &self.email).finish_non_exhaustive()
    }
}
