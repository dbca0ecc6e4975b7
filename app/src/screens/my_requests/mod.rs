//! `/portal/requests`: a partner's own requests, newest first.

pub mod api;

use leptos::prelude::*;

use crate::requests::Asked;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::request_table::RequestList;

#[component]
pub fn MyRequests() -> impl IntoView {
    let address = Address::current();
    // Whose they are is in the session.
    let asked = Asked { partner: None, ..Asked::from_address(&address) };
    let fetch = {
        let (span, asked) = (address.span().to_string(), asked.clone());
        async move {
            let (page, choices) = api::partner_requests(span, asked).await?;
            Ok((Some(page.window), (page, choices)))
        }
    };
    Screen::new("Requests", "/portal/requests").asks("Which requests?").of_the_log().show(
        fetch,
        move |(page, choices), _| {
            view! { <RequestList page=page choices=choices asked=asked address=address is_ops=false/> }
                .into_any()
        },
    )
}
