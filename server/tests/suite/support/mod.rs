pub mod catalog;
pub mod client;
pub mod database;
pub mod flaky;
pub mod gateway;
pub mod origin;
pub mod toll;
pub mod traffic;
