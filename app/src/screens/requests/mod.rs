//! `/ops/requests`: all requests, newest first.

pub mod api;

use leptos::prelude::*;

use crate::requests::Asked;
use crate::screens::screen::Screen;
use crate::widgets::address::Address;
use crate::widgets::request_table::RequestList;

#[component]
pub fn Requests() -> impl IntoView {
    let address = Address::current();
    let asked = Asked::from_address(&address);
    let fetch = {
        let (span, asked) = (address.span().to_string(), asked.clone());
        async move {
            let (page, choices) = api::ops_requests(span, asked).await?;
            Ok((Some(page.window), (page, choices)))
        }
    };
    let screen = Screen::new("Requests", "/ops/requests").asks("Which requests?").of_the_log();
    screen.show(fetch, move |(page, choices), _| {
        view! { <RequestList page=page choices=choices asked=asked address=address is_ops=true/> }.into_any()
    })
}
