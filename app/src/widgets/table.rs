//! A list of things: what its columns are called, and a row each.

use leptos::prelude::*;

/// Class and name of a column. Of class `unseen` it is named to those who listen, for what the others see by itself.
pub type Column = (&'static str, &'static str);

#[component]
pub fn Table<R: IntoView + 'static>(
    #[prop(optional)] class: &'static str,
    columns: Vec<Column>,
    rows: Vec<R>,
    /// What is said in place of a list without rows.
    #[prop(optional, into)]
    otherwise: Option<AnyView>,
) -> impl IntoView {
    if rows.is_empty() {
        return otherwise.into_any();
    }
    let columns = columns.into_iter().map(|(class, name)| match class {
        "unseen" => view! { <th scope="col"><span class="visually-hidden">{name}</span></th> }.into_any(),
        class => view! { <th scope="col" class=class>{name}</th> }.into_any(),
    });
    view! {
        <table class=format!("list {class}")>
            <thead><tr>{columns.collect_view()}</tr></thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}
