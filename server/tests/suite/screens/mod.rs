//! Operators' screens through the real router.

use crate::portal::Answer;

mod addresses;
mod audit;
mod empty;
mod overview;
mod partners;
mod people;
mod requests;
mod roles;
mod routes;

/// What people read, without markup: islands' data and comments left out.
fn text(answer: &Answer) -> String {
    let mut text = String::new();
    let mut rest = answer.body.as_str();
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        // Cells and lines are words of their own; what is within a line is not.
        if rest[start..].starts_with("</t")
            || rest[start..].starts_with("</s")
            || rest[start..].starts_with("</h")
        {
            text.push(' ');
        }
        rest = rest[start..].find('>').map_or("", |end| &rest[start + end + 1..]);
    }
    text.push_str(rest);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
