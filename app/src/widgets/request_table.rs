//! A list of requests, newest first; each leads to its receipt.

use leptos::prelude::*;

use super::address::Address;
use super::field::Problem;
use super::headline::Said;
use super::request_filter::RequestFilter;
use crate::domain::moment::{Dated, clock_to_the_millisecond};
use crate::domain::numbers::{count, duration};
use crate::requests::asked::Asked;
use crate::requests::{Choices, Logged, Page};

/// What the window holds in a sentence, the filter, the rows, and the way to older ones.
#[component]
pub fn RequestList(
    page: Page,
    asked: Asked,
    choices: Choices,
    address: Address,
    /// Operators see whose a request is, partners by which key it came.
    is_ops: bool,
) -> impl IntoView {
    let Page { window, rows, count, older, kept_since, wrong } = page;
    let said = match wrong {
        None => view! { <Said text=sentence(&asked, count, rows.is_empty())/> }.into_any(),
        Some(wrong) => view! { <Wrong wrong=wrong asked=asked.clone() address=address.clone()/> }.into_any(),
    };
    let older = older.map(|place| address.with("live", Some("off")).with("before", Some(&place)).href());
    let newest = asked.before.is_some().then(|| address.with("before", None).with("live", None).href());
    let no_rows = rows.is_empty();
    let dated = address.span().dated(window);
    view! {
        {said}
        {kept_since.map(|since| view! {
            <p class="hint">{format!("Single requests are kept from {} on. What came before is counted in the books, and no longer listed.", dated.max(Dated::Day).enough(since, window.to).day(since))}</p>
        })}
        <RequestFilter asked=asked choices=choices address=address/>
        {(!no_rows).then(|| view! { <RequestTable rows=rows is_ops=is_ops dated=dated/> })}
        <nav class="pages" aria-label="Pages">
            {newest.map(|href| view! { <a href=href>"← Newest"</a> })}
            {older.map(|href| view! { <a href=href rel="next">"Older →"</a> })}
        </nav>
    }
}

/// What cannot be asked for, and what can.
#[component]
fn Wrong(wrong: String, asked: Asked, address: Address) -> impl IntoView {
    let examples = asked.misread().map(|(name, texts)| {
        let example = |text: &&str| {
            let href = address.with(name, Some(text)).href();
            view! { " "<a href=href><code>{format!("{name}={text}")}</code></a> }
        };
        view! { <p class="hint">"For example:"{texts.iter().map(example).collect_view()}</p> }
    });
    view! {
        <Problem text=Some(format!("Nothing is shown: {wrong}"))/>
        {examples}
    }
}

fn sentence(asked: &Asked, found: Option<u64>, is_empty: bool) -> String {
    let restrictions = asked.words().into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ");
    let of = if restrictions.is_empty() { String::new() } else { format!(": {restrictions}") };
    match found {
        Some(0) if restrictions.is_empty() => "No request has ended in this window.".into(),
        Some(0) => format!("No request in this window{of}."),
        Some(n) => format!("{} in this window{of}.", count(n, "request")),
        None if is_empty && asked.before.is_none() => format!("No request in this window{of}."),
        None => format!("Requests in this window{of}."),
    }
}

/// The rows alone.
#[component]
pub fn RequestTable(
    rows: Vec<Logged>,
    is_ops: bool,
    /// With how much of a date.
    dated: Dated,
) -> impl IntoView {
    view! {
        <table class="list requests" role="table">
            <thead role="rowgroup">
                <tr role="row">
                    <th role="columnheader" scope="col">"Arrived (UTC)"</th>
                    <th role="columnheader" scope="col">"Request"</th>
                    <th role="columnheader" scope="col">{if is_ops { "Partner" } else { "Key" }}</th>
                    <th role="columnheader" scope="col">"Ended"</th>
                    <th role="columnheader" scope="col" class="r">"Status"</th>
                    <th role="columnheader" scope="col" class="r">"Took"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">
                {rows.into_iter().map(|row| line(row, is_ops, dated)).collect::<Vec<_>>()}
            </tbody>
        </table>
    }
}

fn line(row: Logged, is_ops: bool, dated: Dated) -> impl IntoView {
    let whose = if is_ops { row.partner } else { row.key };
    let status = if row.status == 0 { "–".to_owned() } else { row.status.to_string() };
    view! {
        <tr role="row" id=format!("r-{}", row.id) class=format!("stage-{}", row.stage.name())>
            <td role="cell" class="at">
                <a href=format!("/r/{}", row.id)>
                    {(dated > Dated::Not).then(|| view! { <span class="day">{dated.day(row.at)}", "</span> })}{clock_to_the_millisecond(row.at)}
                </a>
            </td>
            <td role="cell" class="what"><span class="method">{row.method}</span>" "<code>{row.path}</code></td>
            <td role="cell" class="whose">{whose.unwrap_or_else(|| "–".into())}</td>
            <td role="cell" class="ended"><span class="dot" aria-hidden="true"></span>{row.outcome.title()}</td>
            <td role="cell" class="r status">{status}</td>
            <td role="cell" class="r took">{duration(row.duration_us)}</td>
        </tr>
    }
}
