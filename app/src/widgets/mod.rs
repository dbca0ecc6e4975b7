//! Parts of screens. They know no screen, and fetch nothing.

pub mod address;
pub mod books;
pub mod choice;
pub mod door;
pub mod ends;
pub mod failed;
pub mod field;
pub mod frame;
pub mod funnel_chart;
pub mod header;
pub mod headline;
pub mod histogram;
pub mod latency_map;
pub mod mini_funnel;
pub mod pager;
pub mod request_filter;
pub mod request_table;
pub mod snippet;
pub mod stills;
pub mod table;
pub mod team;
pub mod traffic_chart;
pub mod verdicts;
pub mod window_picker;
