//! Parts of screens. They know no screen, and fetch nothing.

pub mod books;
#[cfg(feature = "hydrate")]
pub mod chart;
pub mod failed;
pub mod field;
pub mod funnel_chart;
pub mod header;
pub mod headline;
pub mod histogram;
pub mod live;
pub mod numbers;
pub mod waiting;
pub mod window_picker;
