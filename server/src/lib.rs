//! The gateway: everything of Toll that is neither screen nor plain arithmetic.

pub mod body;
pub mod catalog;
pub mod cli;
pub mod clock;
pub mod config;
pub mod data_dir;
pub mod follow;
pub mod gateway;
pub mod ledger;
pub mod listener;
pub mod node;
pub mod pipeline;
pub mod portal;
pub mod postgres;
pub mod presence;
pub mod refusal;
pub mod sockets;
pub mod stages;
pub mod store;
pub mod telemetry;

// Screens read and write catalogs as commands do.
pub use app::{manifest, units};
