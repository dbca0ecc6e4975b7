pub mod apply;
pub mod export;
pub mod keys;
