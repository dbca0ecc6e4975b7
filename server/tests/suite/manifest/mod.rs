//! The file of `toll apply` against a real database.

mod apply;
mod command;
mod conflicts;
mod refused;
mod round_trip;
mod texts;
