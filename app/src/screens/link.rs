//! What pages behind one-time links have in common: a form for as long as the link is good.

use std::future::Future;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::error::Error;
use crate::posted::{Draft, Posted};
use crate::screens::screen::after;
use crate::widgets::door::Door;

enum Shown<T> {
    Form(T, Draft),
    Over,
    /// The answer leads on.
    Used,
}

/// `found` is what the link is for; `take` uses it with what was sent, and leads on; `form` is shown until then. A link is
/// good for so many `hours`.
pub fn page<T: Send + 'static, Taken: Future<Output = Result<(), Error>> + Send>(
    title: &'static str,
    hours: i32,
    found: impl Future<Output = Result<Option<T>, Error>> + Send + 'static,
    take: impl FnOnce(&Posted) -> Taken + Send + 'static,
    form: impl FnOnce(T, Draft) -> AnyView + Send + 'static,
) -> impl IntoView {
    let posted = Posted::current();
    let shown = async {
        let mut draft = Draft::default();
        if let Some(posted) = posted {
            let taken = take(&posted).await;
            match posted.judge(taken)? {
                Ok(()) => return Ok(Shown::Used),
                Err(refused) => draft = refused,
            }
        }
        // For the form alone: whoever uses the link has it read by that.
        Ok(found.await?.map_or(Shown::Over, |of| Shown::Form(of, draft)))
    };
    let page = after(shown, move |shown| match shown {
        Shown::Form(of, draft) => form(of, draft),
        Shown::Over => view! { <Over hours=hours/> }.into_any(),
        Shown::Used => ().into_any(),
    });
    view! {
        <Title text=title/>
        {page}
    }
}

#[component]
fn Over(hours: i32) -> impl IntoView {
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        response.set_status(http::StatusCode::GONE);
    }
    let lead = format!(
        "It was used or withdrawn, a newer one took its place, or it is older than {hours} hours. Ask an operator for a new one."
    );
    view! { <Door title="This link is over" lead=lead><p><a href="/">"Sign in"</a></p></Door> }
}
