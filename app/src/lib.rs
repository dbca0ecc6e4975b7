#[cfg(feature = "ssr")]
pub mod announce;
pub mod domain;
