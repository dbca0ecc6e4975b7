//! The portal. `server` renders its screens; `frontend` wakes up the islands in them, the only part that runs in a browser.

pub mod domain;
pub mod error;
pub mod islands;

#[cfg(feature = "ssr")]
pub mod access;
#[cfg(feature = "ssr")]
pub mod announce;
#[cfg(feature = "ssr")]
pub mod away;
#[cfg(feature = "ssr")]
pub mod books;
#[cfg(feature = "ssr")]
pub mod breakers;
#[cfg(feature = "ssr")]
pub mod cache_use;
#[cfg(feature = "ssr")]
pub mod changes;
#[cfg(feature = "ssr")]
mod codes;
#[cfg(feature = "ssr")]
pub mod evidence;
#[cfg(feature = "ssr")]
pub mod keys;
#[cfg(feature = "ssr")]
pub mod latency;
#[cfg(feature = "ssr")]
pub mod manifest;
#[cfg(feature = "ssr")]
pub mod over_time;
#[cfg(feature = "ssr")]
pub mod partners;
#[cfg(feature = "ssr")]
pub mod people;
#[cfg(feature = "ssr")]
pub mod posted;
#[cfg(feature = "ssr")]
pub mod purge;
#[cfg(feature = "ssr")]
pub mod receipt;
#[cfg(feature = "ssr")]
pub mod requests;
#[cfg(feature = "ssr")]
mod routes;
#[cfg(feature = "ssr")]
pub mod screens;
#[cfg(feature = "ssr")]
pub mod session;
#[cfg(feature = "ssr")]
pub mod sheets;
#[cfg(feature = "ssr")]
mod shell;
#[cfg(feature = "ssr")]
pub mod site;
#[cfg(feature = "ssr")]
pub mod units;
#[cfg(feature = "ssr")]
pub mod widgets;

#[cfg(feature = "ssr")]
pub use routes::App;
#[cfg(feature = "ssr")]
pub use shell::shell;
#[cfg(feature = "ssr")]
pub use widgets::failed::Away;
