#[cfg(feature = "ssr")]
pub mod announce;
#[cfg(feature = "ssr")]
pub mod books;
pub mod domain;
#[cfg(feature = "ssr")]
pub mod keys;
