pub mod catalog;
pub mod database;
