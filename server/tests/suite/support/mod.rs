pub mod catalog;
pub mod client;
pub mod database;
pub mod gateway;
pub mod origin;
pub mod toll;
