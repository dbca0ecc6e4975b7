//! The file of `toll apply` against a real database.

mod apply;
mod command;
mod refused;
mod round_trip;
