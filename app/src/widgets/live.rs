//! Keeps what a screen shows current: asks again every few seconds while the page can be seen, and at once when another
//! window is chosen. The screen stays as it stands until new numbers are there.

use leptos::prelude::*;

use crate::domain::span::Span;
use crate::error::Error;

/// Numbers that follow the clock.
pub struct Live<T: Send + Sync + 'static> {
    pub data: RwSignal<T>,
    /// Why the last attempt failed; the numbers are the ones from before.
    pub problem: RwSignal<Option<Error>>,
    /// Another window was asked for and is not there yet.
    pub busy: RwSignal<bool>,
}

// Derived, they would ask the numbers to be `Copy` too.
impl<T: Send + Sync + 'static> Clone for Live<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Send + Sync + 'static> Copy for Live<T> {}

/// `first` came with the page; `fetch` gets what follows.
pub fn use_live<T, F, Fut>(first: T, span: Memo<Span>, paused: Memo<bool>, fetch: F) -> Live<T>
where
    T: Send + Sync + 'static,
    F: Fn(String) -> Fut + Clone + 'static,
    Fut: Future<Output = Result<T, Error>> + 'static,
{
    let live = Live { data: RwSignal::new(first), problem: RwSignal::new(None), busy: RwSignal::new(false) };
    #[cfg(feature = "hydrate")]
    in_the_browser::follow(live, span, paused, fetch);
    #[cfg(not(feature = "hydrate"))]
    let _ = (span, paused, fetch);
    live
}

#[cfg(feature = "hydrate")]
mod in_the_browser {
    use std::time::Duration;

    use leptos::prelude::*;
    use leptos::task::spawn_local;

    use super::Live;
    use crate::domain::span::Span;
    use crate::error::Error;

    const EVERY: Duration = Duration::from_secs(5);

    pub fn follow<T, F, Fut>(live: Live<T>, span: Memo<Span>, paused: Memo<bool>, fetch: F)
    where
        T: Send + Sync + 'static,
        F: Fn(String) -> Fut + Clone + 'static,
        Fut: Future<Output = Result<T, Error>> + 'static,
    {
        // Only the answer to the newest question counts.
        let asked = StoredValue::new(0u32);
        let ask = move || {
            asked.update_value(|n| *n += 1);
            let number = asked.get_value();
            let answer = fetch(span.get_untracked().to_string());
            spawn_local(async move {
                let answer = answer.await;
                // Nobody waits for it any more: another question was asked, or the screen is gone.
                if asked.try_get_value() != Some(number) {
                    return;
                }
                live.busy.set(false);
                match answer {
                    Ok(data) => {
                        live.data.set(data);
                        live.problem.set(None);
                    }
                    Err(error) => live.problem.set(Some(error)),
                }
            });
        };

        Effect::new({
            let ask = ask.clone();
            move |before: Option<Span>| {
                let now = span.get();
                if before.is_some_and(|before| before != now) {
                    live.busy.set(true);
                    ask();
                }
                now
            }
        });

        let look = move || {
            if span.get_untracked().is_live() && !paused.get_untracked() && !document().hidden() {
                ask();
            }
        };
        Effect::new(move |_| {
            let timer = set_interval_with_handle(look.clone(), EVERY);
            let look = look.clone();
            let seen = window_event_listener_untyped("focus", move |_| look());
            on_cleanup(move || {
                if let Ok(timer) = timer {
                    timer.clear();
                }
                seen.remove();
            });
        });
    }
}
