#[cfg(feature = "ssr")]
pub mod announce;
pub mod domain;
#[cfg(feature = "ssr")]
pub mod keys;
