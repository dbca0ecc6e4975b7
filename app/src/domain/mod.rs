//! Plain types and arithmetic that browser and server share: no I/O, no clock.

pub mod advice;
pub mod api_key;
pub mod cache_miss;
pub mod change;
pub mod ends;
pub mod funnel;
pub mod histogram;
pub mod key_text;
pub mod key_use;
pub mod moment;
pub mod numbers;
pub mod outcome;
pub mod over_time;
pub mod purge;
pub mod quota;
pub mod receipt;
pub mod span;
pub mod stage;
pub mod title;
pub mod total;
pub mod verdict;
pub mod window;
