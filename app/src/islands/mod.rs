//! What runs in the browser. A screen is HTML, made on the server; in it stand islands, each a small program with the data
//! that it needs. So a browser downloads charts and dialogs, and not the screens around them.

pub mod chart;
pub mod copy;
pub mod live;
pub mod pictures;
#[cfg(feature = "hydrate")]
mod props;
pub mod secret;
pub mod sheet;
