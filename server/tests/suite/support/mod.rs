pub mod catalog;
pub mod database;
pub mod toll;
