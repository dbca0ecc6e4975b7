//! Taking a view along: a link that will always show the same, pictures, numbers.

use leptos::prelude::*;

use super::address::Address;
use crate::domain::moment::Dated;
use crate::domain::span::Span;
use crate::domain::window::Window;
use crate::islands::pictures::{SavePictures, Shown};
use crate::requests::Asked;
use crate::session::{Role, Viewer};
use crate::sheets;

#[component]
pub fn Stills(address: Address, window: Window, viewer: Viewer) -> impl IntoView {
    let still = address.at(Span::Between(window)).with("live", Some("off"));
    let is_still = !address.span().is_live();
    let csv = sheets::link(&still);
    let shown =
        Shown { of: subject(&address, &viewer), window: format!("{} UTC", Dated::Year.window(window)) };
    view! {
        <p class="stills">
            {(!is_still).then(|| view! { <a href=still.href() title="A link that will always show this window">"Snapshot"</a> })}
            {csv.map(|href| view! { <a href=href download="" title="The numbers, with the filters in the head">"CSV"</a> })}
            <SavePictures data=shown/>
        </p>
    }
}

/// Whose traffic a page shows, and which of it, for those who do not see the page.
fn subject(address: &Address, viewer: &Viewer) -> String {
    let whose = match &viewer.role {
        Role::Partner { name, .. } => Some(name.clone()),
        Role::Ops => sheets::partner(&address.path).map(|slug| format!("Partner {slug}")),
    };
    let mut parts: Vec<String> = whose.into_iter().collect();
    parts.extend(Asked::from_address(address).words().into_iter().map(|(_, words)| words));
    parts.extend(address.get("upstream").map(|upstream| format!("upstream {upstream}")));
    let words = if parts.is_empty() { "all traffic".to_owned() } else { parts.join(", ") };
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_whose_traffic_it_shows_and_which() {
        let ops = Viewer { email: "ada@example.com".into(), role: Role::Ops };
        let role =
            Role::Partner { id: 1, slug: "acme".into(), name: "Acme Corp".into(), is_suspended: false };
        let bob = Viewer { email: "bob@acme.example".into(), role };
        let of = |path, query, viewer| subject(&Address::parse(path, query), viewer);
        assert_eq!(of("/ops", "last=1h", &ops), "All traffic");
        assert_eq!(of("/ops/latency", "route=orders", &ops), "Route orders");
        assert_eq!(of("/ops/partners/acme", "", &ops), "Partner acme");
        assert_eq!(of("/portal", "last=1h", &bob), "Acme Corp");
    }
}
