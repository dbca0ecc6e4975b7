//! Double entry.

pub mod record;
