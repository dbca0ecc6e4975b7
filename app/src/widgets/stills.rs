//! Taking a view along: a link that will always show the same, pictures, numbers.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::span::Span;
use crate::domain::window::Window;
use crate::islands::pictures::SavePictures;
use crate::sheets;

#[component]
pub fn Stills(address: Address, window: Window) -> impl IntoView {
    let still = address.at(Span::Between(window)).with("live", Some("off"));
    let is_still = !address.span().is_live();
    let csv = sheets::link(&still);
    view! {
        <p class="stills">
            {(!is_still).then(|| view! { <a href=still.href() title="A link that will always show this window">"Snapshot"</a> })}
            {csv.map(|href| view! { <a href=href download="" title="The numbers, with the filters in the head">"CSV"</a> })}
            <SavePictures/>
        </p>
    }
}
