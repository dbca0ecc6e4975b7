//! Where the time goes: what a request spends in each stage that it comes into.

use leptos::prelude::*;

use crate::domain::numbers::{duration, grouped, percent};
use crate::domain::stage::Stage;
use crate::latency::Times;
use crate::widgets::table::Table;

#[component]
pub fn Stages(times: Times) -> impl IntoView {
    let all: u64 = times.micros.iter().sum();
    if all == 0 {
        return ().into_any();
    }
    let rows = Stage::ALL.map(|stage| {
        let (entered, micros) = (times.entered[stage.index()], times.micros[stage.index()]);
        let width = format!("{:.2}%", micros as f64 / all as f64 * 100.0);
        view! {
            <tr class=format!("stage-{}", stage.name())>
                <th scope="row"><span class="dot" aria-hidden="true"></span>{stage.title()}</th>
                <td class="r" data-label="Requests">{grouped(entered)}</td>
                <td class="r" data-label="Each">{fine(times.mean(stage), entered)}</td>
                <td class="bar-cell"><svg class="share" width="100%" aria-hidden="true"><rect height="100%" width=width/></svg></td>
                <td class="r soft" data-label="Of all time">{percent(micros, all)}</td>
            </tr>
        }
    });
    let columns =
        vec![("", "Stage"), ("r", "Requests"), ("r", "Each"), ("unseen", "Drawn"), ("r", "Of all time")];
    view! {
        <section aria-labelledby="stages-title">
            <h2 id="stages-title">
                "Where the time goes"<small>"on average, of the requests that came into the stage; Proxy is the upstream’s time"</small>
            </h2>
            <Table class="stage-times" columns=columns rows=Vec::from(rows)/>
        </section>
    }
    .into_any()
}

/// Toll's own stages take microseconds.
fn fine(micros: u64, entered: u64) -> String {
    match micros {
        _ if entered == 0 => "–".into(),
        ..1_000 => format!("{micros} µs"),
        _ => duration(micros),
    }
}
