//! How a screen comes about: who is asking, then its data, then its view; or why not.

use std::future::Future;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::books::kept_since;
use crate::domain::window::Window;
use crate::error::Error;
use crate::posted::Posted;
use crate::session::Viewer;
use crate::session::viewer::who;
use crate::site::Site;
use crate::widgets::address::Address;
use crate::widgets::failed::Failed;
use crate::widgets::frame::Frame;

/// A view that becomes another once `work` is done. The page is sent when it is.
pub fn after<T: 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
    view: impl FnOnce(T) -> AnyView + Send + 'static,
) -> impl IntoView {
    let work = Box::pin(work);
    view! {
        <Suspense>
            {
                Suspend::new(async move {
                    match work.await {
                        Ok(data) => view(data),
                        Err(error) => view! { <Failed error=error viewer=None/> }.into_any(),
                    }
                })
            }
        </Suspense>
    }
}

/// What is said about a screen before its data is there.
pub struct Screen {
    pub title: String,
    /// The page in the navigation.
    pub here: &'static str,
    /// What the bar asks or says, instead of the title.
    pub asks: &'static str,
    /// Whether it stays as it is: a form that is being filled in, or what does not change.
    pub is_still: bool,
    /// What it reads, as `books::kept_since` calls it: older windows are not offered.
    pub reads: &'static str,
}

impl Screen {
    pub fn new(title: impl Into<String>, here: &'static str) -> Screen {
        Screen { title: title.into(), here, asks: "", is_still: false, reads: "minute" }
    }

    pub fn asks(self, asks: &'static str) -> Screen {
        Screen { asks, ..self }
    }

    pub fn still(self) -> Screen {
        Screen { is_still: true, ..self }
    }

    /// Of single requests, which are kept for a shorter time than their sums.
    pub fn of_the_log(self) -> Screen {
        Screen { reads: "log", ..self }
    }

    /// The screen around what `view` makes of the data. `fetch` is a server function: it asks whether this person may, and
    /// gives the window that it read, if there is one.
    pub fn show<T: Send + 'static>(
        self,
        fetch: impl Future<Output = Result<(Option<Window>, T), Error>> + Send + 'static,
        view: impl FnOnce(T, &Viewer) -> AnyView + Send + 'static,
    ) -> impl IntoView {
        let Screen { title, here, asks, is_still, reads } = self;
        // Fetched again, the answer to a form would be the empty form.
        let is_still = is_still || Posted::current().is_some();
        let address = Address::current();
        let work = async move {
            let viewer = who().await?.ok_or(Error::SignedOut)?;
            let kept_since = kept_since(&Site::current()?.db, reads).await?;
            Ok((viewer, kept_since, fetch.await))
        };
        let title_text = title.clone();
        let shown = after(work, move |(viewer, kept_since, fetched)| {
            let (window, data) = match fetched {
                Ok(fetched) => fetched,
                Err(error) => return view! { <Failed error=error viewer=Some(viewer)/> }.into_any(),
            };
            let inside = view(data, &viewer);
            view! { <Frame title=title here=here viewer=viewer address=address window=window kept_since=kept_since asks=asks is_still=is_still>{inside}</Frame> }.into_any()
        });
        view! {
            <Title text=title_text/>
            {shown}
        }
    }
}
