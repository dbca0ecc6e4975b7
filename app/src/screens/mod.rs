//! A folder a screen: the view, and its server functions. No screen imports another.

pub mod invite;
pub mod ops;
pub mod portal;
pub mod screen;
pub mod sign_in;
pub mod traffic;
