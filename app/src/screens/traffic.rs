//! What the screens of operators and of partners have in common: a window, the books, and the charts beside them.

use std::pin::Pin;

use leptos::prelude::*;
use leptos_meta::Title;
use serde::{Deserialize, Serialize};

use crate::domain::funnel::Funnel;
use crate::domain::window::Window;
use crate::error::Error;
use crate::screens::viewer::who;
use crate::session::Viewer;
use crate::widgets::books::Books;
use crate::widgets::failed::Failed;
use crate::widgets::funnel_chart::FunnelChart;
use crate::widgets::header::Header;
use crate::widgets::headline::headline;
use crate::widgets::histogram::LatencyHistogram;
use crate::widgets::live::use_live;
use crate::widgets::numbers::{grouped, window_words};
use crate::widgets::waiting::Waiting;
use crate::widgets::window_picker::{WindowPicker, use_is_paused, use_span};

/// The numbers of one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    pub funnel: Funnel,
    /// Where requests come in, for the example that an empty page shows.
    pub gateway: String,
}

/// Reads the window's books, of one partner or of everybody. The caller has asked who is asking.
#[cfg(feature = "ssr")]
pub async fn read(span: &str, partner: Option<i64>) -> Result<Traffic, Error> {
    use crate::books::{Filter, funnel};
    use crate::domain::span::Span;

    let site = crate::site::Site::current()?;
    let span: Span = span
        .parse()
        .map_err(|error: crate::domain::window::WindowError| Error::Invalid(error.to_string()))?;
    // The books are kept by the database's clock.
    let now = sqlx::query_scalar("select now()").fetch_one(&site.db).await?;
    let funnel = funnel(&site.db, span.window(now), &Filter { partner, route: None }).await?;
    Ok(Traffic { funnel, gateway: format!("{}/api", site.public_url) })
}

type Fetched = Pin<Box<dyn Future<Output = Result<Traffic, Error>> + Send>>;

/// The whole page, from data that `fetch` gets.
#[component]
pub fn TrafficScreen<F, Fut>(title: &'static str, here: &'static str, fetch: F) -> impl IntoView
where
    F: Fn(String) -> Fut + Copy + Send + Sync + 'static,
    Fut: Future<Output = Result<Traffic, Error>> + Send + 'static,
{
    let span = use_span();
    let fetch = move |span: String| -> Fetched { Box::pin(fetch(span)) };
    // What comes with the page. From then on `use_live` asks.
    let first = Resource::new_blocking(
        || (),
        move |()| async move {
            let viewer = who().await?.ok_or(Error::SignedOut)?;
            Ok::<_, Error>((viewer, fetch(span.get_untracked().to_string()).await?))
        },
    );
    view! {
        <Title text=title/>
        <Suspense fallback=Waiting>
            {move || Suspend::new(async move {
                match first.await {
                    Ok((viewer, traffic)) => view! { <Page title here viewer traffic fetch/> }.into_any(),
                    Err(error) => view! { <Failed error=error/> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn Page<F>(
    title: &'static str,
    here: &'static str,
    viewer: Viewer,
    traffic: Traffic,
    fetch: F,
) -> impl IntoView
where
    F: Fn(String) -> Fetched + Copy + 'static,
{
    let (span, paused) = (use_span(), use_is_paused());
    let gateway = traffic.gateway.clone();
    let live = use_live(traffic, span, paused, fetch);
    let funnel = Memo::new(move |_| live.data.read().funnel.clone());
    let shown = Memo::new(move |_| {
        let funnel = funnel.read();
        Window { from: funnel.from, to: funnel.to }
    });
    let is_empty = Memo::new(move |_| funnel.read().arrived == 0);
    view! {
        <a class="skip" href="#content">"To the content"</a>
        <Header viewer=viewer here=here/>
        <main id="content" class="wrap" aria-busy=move || live.busy.get().then_some("true")>
            <h1 class="visually-hidden">{title}</h1>
            <div class="bar">
                <p class="asked">"Where did the requests go?"<span class="when">{move || window_words(shown.get())}" UTC"</span></p>
                <WindowPicker span=span paused=paused shown=shown/>
            </div>
            <p class="problem" role="alert">
                {move || live.problem.get().map(|error| format!("{error} The numbers below are from before; trying again."))}
            </p>
            <p class="verdict">{move || headline(&funnel.read())}</p>
            <Show when=move || is_empty.get()><Empty gateway=gateway.clone() waits=Signal::derive(move || span.get().is_live())/></Show>
            <section aria-labelledby="books-title">
                <h2 id="books-title">"The books"<small>{move || beside_the_books(&funnel.read())}</small></h2>
                <Books funnel=funnel/>
            </section>
            <section class="two">
                <FunnelChart funnel=funnel/>
                <LatencyHistogram latency=Signal::derive(move || funnel.read().latency.clone())/>
            </section>
        </main>
    }
    .into_any()
}

/// What is no line of the subtraction, and still worth a word.
fn beside_the_books(funnel: &Funnel) -> String {
    let mut words = Vec::new();
    if funnel.upstream_calls != funnel.reached_upstream {
        words.push(format!(
            "{} calls to upstreams, with retries and revalidations",
            grouped(funnel.upstream_calls)
        ));
    }
    if funnel.metered_locally > 0 {
        words
            .push(format!("{} metered locally while the database was away", grouped(funnel.metered_locally)));
    }
    words.join("; ")
}

/// Nothing yet: a request to try, which then appears by itself.
#[component]
fn Empty(gateway: String, waits: Signal<bool>) -> impl IntoView {
    view! {
        <div class="empty">
            <p>"Send a request, with a key of one of your partners or without: it will be in the books, whatever becomes of it."</p>
            <pre tabindex="0"><code>{format!("curl -i {gateway}/hello")}</code></pre>
            <Show when=move || waits.get()><p class="hint" role="status">"Waiting for the first request. It appears here by itself."</p></Show>
        </div>
    }
    .into_any()
}
