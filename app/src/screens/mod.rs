//! A folder a screen: the view, and its server functions. No screen imports another.

pub mod account;
pub mod audit;
pub mod cache;
pub mod docs;
pub mod invite;
pub mod keys;
pub mod latency;
pub mod link;
pub mod my_requests;
pub mod operators;
pub mod ops;
pub mod partners;
pub mod people;
pub mod portal;
pub mod receipt;
pub mod requests;
pub mod reset;
pub mod routes;
pub mod screen;
pub mod sign_in;
pub mod sign_up;
pub mod team;
pub mod traffic;
pub mod upstreams;
