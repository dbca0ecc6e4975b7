//! A partner's bucket now, as a bar.

use leptos::prelude::*;

use crate::domain::moment::{Dated, until};
use crate::domain::numbers::{count, grouped};
use crate::domain::quota::Quota;

#[component]
pub fn QuotaNow(quota: Quota, title: &'static str) -> impl IntoView {
    let (left, capacity) = (quota.left(), u64::from(quota.capacity));
    let share = (quota.level / f64::from(quota.capacity.max(1)) * 100.0).clamp(0.0, 100.0);
    let when = match quota.full_at() {
        Some(at) => {
            let clock = Dated::of(at, quota.now).second(at);
            format!("Full again {}, at {clock} UTC.", until(at, quota.now))
        }
        None if quota.is_full() => "Full.".to_owned(),
        None => "It does not refill.".to_owned(),
    };
    view! {
        <section class="quota-now" aria-labelledby="quota-title">
            <h2 id="quota-title">{title}<small>{format!("plan {}: {}", quota.plan, quota.terms())}</small></h2>
            <svg class="quota-bar stage-quota" class:spent=left == 0 width="100%" role="img"
                aria-label=format!("{} of {} left", grouped(left), count(capacity, "request"))>
                <rect class="room" width="100%" height="100%"/>
                <rect class="left" width=format!("{share:.2}%") height="100%"/>
            </svg>
            <p><b>{grouped(left)}</b>" of "{grouped(capacity)}" left at once. "{when}</p>
        </section>
    }
}
