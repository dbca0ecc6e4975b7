//! Who changed what, before and after.

use leptos::prelude::*;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::api::Changes;
use crate::changes::{Change, What};
use crate::domain::moment::Dated;
use crate::widgets::address::Address;
use crate::widgets::table::Table;

#[component]
pub fn ChangeList(changes: Changes, address: Address) -> impl IntoView {
    let Changes { changes, older } = changes;
    let here = address.get("what").unwrap_or_default().to_owned();
    let kinds: Vec<_> = std::iter::once(("", "all"))
        .chain(What::ALL.iter().map(|what| (what.word(), what.word())))
        .map(|(value, word)| {
            let href = address.with("what", (!value.is_empty()).then_some(value)).with("before", None).href();
            view! { <a href=href aria-current=(value == here).then_some("true")>{word}</a> }
        })
        .collect();
    let rows: Vec<_> = changes.into_iter().map(row).collect();
    let columns = vec![("", "When, UTC"), ("", "Who"), ("", "What"), ("", "Before and after")];
    let none = view! { <p class="hint">"No change of this kind yet."</p> };
    let older = older.map(|id| {
        let href = address.with("before", Some(id.to_string().as_str())).href();
        view! { <nav class="pager" aria-label="Pages"><a href=href>"Older →"</a></nav> }
    });
    view! {
        <section aria-labelledby="changes-title">
            <h2 id="changes-title">"Changes"</h2>
            <nav class="win kinds" aria-label="Kind of change">{kinds}</nav>
            <Table class="changes" columns=columns rows=rows otherwise=none.into_any()/>
            {older}
        </section>
    }
}

fn row(change: Change) -> impl IntoView {
    let Change { id, at, who, what, name, before, after } = change;
    let mark = match (&before, &after) {
        // What is done to them makes nothing new.
        _ if [What::Breaker.word(), What::Cache.word(), What::Password.word()].contains(&what.as_str()) => "",
        (None, _) => "new",
        (_, None) => "gone",
        _ => "",
    };
    let fields: Vec<_> = fields(before.as_ref(), after.as_ref())
        .into_iter()
        .map(|(field, before, after)| {
            let was = before.map(|before| view! { <del>{before}</del>" → " });
            view! { <li><code>{field}</code>" "{was}{after}</li> }
        })
        .collect();
    view! {
        <tr id=format!("change-{id}")>
            <td data-label="When">{Dated::Year.second(at)}</td>
            <td data-label="Who">{who}</td>
            <th scope="row">
                <span class="soft">{what}" "</span>{name}
                {(!mark.is_empty()).then(|| view! { <span class="tag">{mark}</span> })}
            </th>
            <td data-label="Change"><ul class="sides">{fields}</ul></td>
        </tr>
    }
}

/// Each field with what it was, if it was anything, and what it is.
fn fields(before: Option<&Value>, after: Option<&Value>) -> Vec<(String, Option<String>, String)> {
    let get = |side: Option<&Value>, key: &str| side.and_then(|side| side.get(key)).cloned();
    let mut names: Vec<String> = [before, after]
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flat_map(|object| object.keys().cloned())
        .collect();
    names.sort_unstable();
    names.dedup();
    let told = |value: &Option<Value>| value.as_ref().map_or_else(|| "unset".to_owned(), words);
    let field = |name: String| {
        let (was, is) = (get(before, &name), get(after, &name));
        match (before, after) {
            (Some(_), Some(_)) => Some((name, Some(told(&was)), told(&is))),
            // Of what is new or gone, that which it has or had.
            _ => was.or(is).filter(|value| !value.is_null()).map(|value| (name, None, words(&value))),
        }
    };
    names.into_iter().filter_map(field).collect()
}

fn words(value: &Value) -> String {
    match value {
        Value::Null => "unset".into(),
        Value::String(text) => match OffsetDateTime::parse(text, &Rfc3339) {
            Ok(at) => Dated::Year.second(at),
            Err(_) => text.clone(),
        },
        Value::Array(values) => values.iter().map(words).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_was_or_is_left_out_is_unset() {
        let before = json!({ "capacity": 60, "routes": ["a", "b"] });
        let after = json!({ "capacity": 9 });
        assert_eq!(
            fields(Some(&before), Some(&after)),
            [
                ("capacity".into(), Some("60".into()), "9".into()),
                ("routes".into(), Some("a, b".into()), "unset".to_owned()),
            ]
        );
        let ends = json!({ "expires": "2026-12-05T09:15:28.192356Z" });
        assert_eq!(
            fields(None, Some(&ends)),
            [("expires".into(), None, "5 December 2026, 09:15:28".to_owned())]
        );
        let fresh = json!({ "capacity": 9, "routes": null });
        assert_eq!(fields(None, Some(&fresh)), [("capacity".into(), None, "9".to_owned())]);
    }
}
