//! The six stages. `pipeline.rs` says in which order they stand.

pub mod breaker;
pub mod cache;
pub mod key;
pub mod proxy;
pub mod quota;
pub mod route;
