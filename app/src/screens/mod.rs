//! A folder a screen: the view, and its server functions. No screen imports another.

pub mod docs;
pub mod invite;
pub mod keys;
pub mod ops;
pub mod people;
pub mod portal;
pub mod receipt;
pub mod screen;
pub mod sign_in;
pub mod traffic;
