//! The books: from arrivals down to the upstream, as a subtraction whose bars are the funnel.

use std::cmp::Reverse;

use leptos::prelude::*;

use super::address::Address;
use crate::domain::funnel::Funnel;
use crate::domain::numbers::{grouped, lower_first, percent};
use crate::domain::outcome::Outcome;
use crate::domain::stage::Stage;

/// One row.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    class: String,
    label: &'static str,
    why: Vec<Why>,
    /// Which requests these are, as a list of them is asked for.
    asks: Vec<(&'static str, &'static str)>,
    bar: Bar,
    number: String,
    percent: String,
}

/// A reason, with how many it stopped: "204 missing"; or a remark, which asks for nothing.
#[derive(Clone, Debug, PartialEq)]
struct Why {
    words: String,
    asks: Vec<(&'static str, &'static str)>,
}

impl Why {
    fn remark(words: &str) -> Vec<Why> {
        if words.is_empty() { Vec::new() } else { vec![Why { words: words.into(), asks: Vec::new() }] }
    }
}

/// What a row draws, in per cent of arrivals: how far in it begins, what goes on, what ends here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bar {
    start: f64,
    go: f64,
    stop: f64,
}

impl Bar {
    /// `go` and `stop` requests of `arrived`, in the middle.
    fn centred(go: u64, stop: u64, arrived: u64) -> Bar {
        let share = |part: u64| part as f64 / arrived.max(1) as f64 * 100.0;
        Bar { start: 50.0 - share(go + stop) / 2.0, go: share(go), stop: share(stop) }
    }
}

/// What a stage's line is called.
pub fn stage_line(stage: Stage) -> &'static str {
    match stage {
        Stage::Route => "No route",
        Stage::Key => "No key",
        Stage::Quota => "Quota",
        Stage::Cache => "Served by cache",
        Stage::Breaker => "Breaker",
        Stage::Proxy => "Could not be sent",
    }
}

/// Why requests ended at a stage, most frequent first, each with its title.
pub fn reasons(funnel: &Funnel, stage: Stage) -> Vec<(u64, &str)> {
    causes(funnel, stage).into_iter().map(|(count, title, _)| (count, title)).collect()
}

/// The same with the outcome, where it is one.
fn causes(funnel: &Funnel, stage: Stage) -> Vec<(u64, &str, Option<Outcome>)> {
    let line = funnel.stage(stage);
    let mut causes: Vec<_> = if stage == Stage::Proxy {
        never_sent(funnel)
    } else {
        line.outcomes.iter().map(|(name, count)| (*count, title(name), Outcome::from_name(name))).collect()
    };
    causes.retain(|(count, ..)| *count > 0);
    causes.sort_by_key(|(count, ..)| Reverse(*count));
    causes
}

/// At the proxy some outcomes always mean that nothing was sent; what remains left, or failed, just before.
fn never_sent(funnel: &Funnel) -> Vec<(u64, &'static str, Option<Outcome>)> {
    let line = funnel.stage(Stage::Proxy);
    let always = [Outcome::UpstreamUnreachable, Outcome::BodyTooLarge, Outcome::RequestTimeout];
    let mut causes = always
        .map(|outcome| {
            (line.outcomes.get(outcome.name()).copied().unwrap_or(0), outcome.title(), Some(outcome))
        })
        .to_vec();
    let named: u64 = causes.iter().map(|(count, ..)| count).sum();
    causes.push((line.stopped.saturating_sub(named), "Ended before being sent", None));
    causes
}

fn title(name: &str) -> &str {
    match Outcome::from_name(name) {
        Some(outcome) => outcome.title(),
        None => name,
    }
}

/// Under the stage's name, so it is not said again: "204 missing · 96 revoked".
fn why(funnel: &Funnel, stage: Stage) -> Vec<Why> {
    // Of one partner there is none, and whoever looks for their own 404s is told where they are.
    if stage == Stage::Route && funnel.unaccounted.is_none() && funnel.stage(stage).stopped == 0 {
        return Why::remark("nobody’s, as no key is read by then");
    }
    let why = |(count, title, outcome): (u64, &str, Option<Outcome>)| {
        let title = lower_first(title);
        let short = title.strip_prefix(stage.name()).map_or(title.as_str(), str::trim_start);
        let mut asks = stopped_at(stage);
        asks.extend(outcome.map(|outcome| ("outcome", outcome.name())));
        Why { words: format!("{} {short}", grouped(count)), asks }
    };
    causes(funnel, stage).into_iter().map(why).collect()
}

/// The proxy's line is of what was not sent.
fn stopped_at(stage: Stage) -> Vec<(&'static str, &'static str)> {
    match stage {
        Stage::Proxy => vec![("stage", stage.name()), ("answer", "unsent")],
        _ => vec![("stage", stage.name())],
    }
}

/// All rows, top to bottom.
fn lines(funnel: &Funnel) -> Vec<Line> {
    let line = |class: String, label: &'static str, why: Vec<Why>, bar: Bar, count: u64| Line {
        class,
        label,
        why,
        asks: Vec::new(),
        bar,
        number: grouped(count),
        percent: percent(count, funnel.arrived),
    };
    let bar = |go, stop| Bar::centred(go, stop, funnel.arrived);
    let mut lines =
        vec![line("arrived".into(), "Arrived", Vec::new(), bar(funnel.arrived, 0), funnel.arrived)];
    for stage in &funnel.stages {
        // The proxy is no stage that refuses: its line is there when it has something to say.
        if stage.stage != Stage::Proxy || stage.stopped > 0 {
            let class = format!("minus {}", stage.stage.class_of_ends());
            let bar = bar(stage.passed, stage.stopped);
            let line = line(class, stage_line(stage.stage), why(funnel, stage.stage), bar, stage.stopped);
            lines.push(Line { asks: stopped_at(stage.stage), ..line });
        }
    }
    let reached = funnel.reached_upstream;
    if let Some(in_flight) = funnel.in_flight.filter(|in_flight| *in_flight > 0) {
        let why = Why::remark("came in, not answered yet");
        lines.push(line("minus in-flight".into(), "In flight", why, bar(reached, in_flight), in_flight));
    }
    let sum = line("sum stage-proxy".into(), "Reached the upstream", Vec::new(), bar(0, reached), reached);
    lines.push(Line { asks: vec![("answer", "any")], ..sum });

    let statuses = &funnel.statuses;
    let start = bar(0, reached).start;
    for (class, label, answer, count, always) in [
        ("", "answered 1xx", "1xx", statuses.informational, false),
        ("", "answered 2xx", "2xx", statuses.success, true),
        ("", "answered 3xx", "3xx", statuses.redirection, true),
        ("fault-caller", "answered 4xx", "4xx", statuses.client_error, true),
        ("fault-upstream", "answered 5xx", "5xx", statuses.server_error, true),
        ("fault-upstream", "no answer", "none", statuses.no_answer, false),
    ] {
        if always || count > 0 {
            let bar = Bar { start, ..bar(0, count) };
            let line = line(format!("answer {class}"), label, Vec::new(), bar, count);
            lines.push(Line { asks: vec![("answer", answer)], ..line });
        }
    }
    lines.push(unaccounted(funnel));
    lines
}

/// The last line, always there: what the door saw and no outcome names.
fn unaccounted(funnel: &Funnel) -> Line {
    let missing = funnel.unaccounted.unwrap_or(0);
    let (class, why) = match missing {
        0 if funnel.unaccounted.is_none() => ("foot", "arrivals are the sum of these lines"),
        0 => ("foot", ""),
        1.. => ("foot wrong", "came in, and no outcome names them: toll audit finds node and minute"),
        _ => ("foot wrong", "more ended than came in: toll audit finds node and minute"),
    };
    let sign = if missing < 0 { "−" } else { "" };
    Line {
        class: class.into(),
        label: "Unaccounted",
        why: Why::remark(why),
        asks: Vec::new(),
        bar: Bar::default(),
        number: format!("{sign}{}", grouped(missing.unsigned_abs())),
        percent: String::new(),
    }
}

#[component]
pub fn Books(
    funnel: Funnel,
    /// The list of requests that lines and reasons lead to, with the window and what else the books are of.
    #[prop(optional)]
    behind: Option<Address>,
) -> impl IntoView {
    view! {
        <table class="books" role="table">
            <thead class="visually-hidden" role="rowgroup">
                <tr role="row">
                    <th role="columnheader">"Line"</th>
                    <th role="columnheader">"Drawn"</th>
                    <th role="columnheader">"Requests"</th>
                    <th role="columnheader">"Of arrivals"</th>
                </tr>
            </thead>
            <tbody role="rowgroup">
                {lines(&funnel).into_iter().map(|line| row(line, behind.as_ref())).collect::<Vec<_>>()}
            </tbody>
        </table>
    }
}

/// Widths are attributes of SVG, since style attributes are what the content security policy forbids.
fn row(line: Line, behind: Option<&Address>) -> impl IntoView + use<> {
    let percent = |share: f64| format!("{share:.2}%");
    let Bar { start, go, stop } = line.bar;
    let label = match line.number == "0" {
        true => line.label.into_any(),
        false => linked(line.label.into(), &line.asks, behind),
    };
    let mut why = Vec::new();
    for (n, reason) in line.why.into_iter().enumerate() {
        why.push(((n > 0).then_some(" · "), linked(reason.words, &reason.asks, behind)));
    }
    view! {
        <tr class=line.class role="row">
            <th scope="row" role="rowheader">
                <span class="dot" aria-hidden="true"></span>{label}<span class="why">{why}</span>
            </th>
            <td class="bar-cell" role="cell">
                <svg class="flow" width="100%" aria-hidden="true">
                    <rect class="go" height="100%" x=percent(start) width=percent(go)/>
                    <rect class="stop" height="100%" x=percent(start + go) width=percent(stop)/>
                </svg>
            </td>
            <td class="n" role="cell">{line.number}</td>
            <td class="p" role="cell">{line.percent}</td>
        </tr>
    }
}

/// Words that lead to the requests that they are about.
fn linked(words: String, asks: &[(&'static str, &'static str)], behind: Option<&Address>) -> AnyView {
    match behind.filter(|_| !asks.is_empty()) {
        Some(list) => {
            let list = asks.iter().fold(list.clone(), |list, (name, value)| list.with(name, Some(value)));
            view! { <a href=list.href()>{words}</a> }.into_any()
        }
        None => words.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::funnel::{self, Counts, Door};
    use crate::domain::window::Window;

    fn told(ends: &[(Stage, Outcome, bool, u64)], door: Option<Door>) -> Vec<String> {
        let lines = ends
            .iter()
            .map(|&(stage, outcome, reached, requests)| funnel::Line {
                stage,
                outcome,
                reached,
                upstream_class: 2,
                requests,
            })
            .collect();
        let window =
            Window::new(datetime!(2026-01-01 10:00 UTC), datetime!(2026-01-01 11:00 UTC)).expect("forward");
        let funnel = Funnel::new(window, &Counts { lines, door, ..Counts::default() });
        super::lines(&funnel)
            .iter()
            .map(|line| {
                let why: Vec<_> = line.why.iter().map(|why| why.words.as_str()).collect();
                format!("{} {} {}", line.label, line.number, why.join(" · "))
            })
            .collect()
    }

    #[test]
    fn what_could_not_be_sent_and_what_is_in_flight_have_lines_only_when_there_is_any() {
        let quiet =
            told(&[(Stage::Proxy, Outcome::Forwarded, true, 5)], Some(Door { arrived: 5, in_flight: 0 }));
        assert!(
            !quiet.iter().any(|line| line.starts_with("Could not") || line.starts_with("In flight")),
            "{quiet:?}"
        );
        let busy = told(
            &[
                (Stage::Proxy, Outcome::Forwarded, true, 5),
                (Stage::Proxy, Outcome::UpstreamUnreachable, false, 2),
                (Stage::Proxy, Outcome::ClientGone, false, 1),
            ],
            Some(Door { arrived: 9, in_flight: 1 }),
        );
        assert!(
            busy.contains(
                &"Could not be sent 3 2 upstream unreachable · 1 ended before being sent".to_owned()
            )
        );
        assert!(busy.contains(&"In flight 1 came in, not answered yet".to_owned()));
        assert_eq!(busy.last().map(String::as_str), Some("Unaccounted 0 "));
    }

    #[test]
    fn reasons_come_by_number_without_the_name_of_the_stage() {
        let told = told(
            &[(Stage::Key, Outcome::KeyRevoked, false, 96), (Stage::Key, Outcome::KeyMissing, false, 1204)],
            None,
        );
        assert_eq!(told[2], "No key 1,300 1,204 missing · 96 revoked");
    }

    #[test]
    fn that_a_partner_has_none_without_a_route_is_explained_and_what_there_is_needs_no_word() {
        let served = (Stage::Proxy, Outcome::Forwarded, true, 5);
        assert_eq!(told(&[served], None)[1], "No route 0 nobody’s, as no key is read by then");
        assert_eq!(told(&[served], Some(Door { arrived: 5, in_flight: 0 }))[1], "No route 0 ");
        assert_eq!(
            told(&[(Stage::Route, Outcome::NoRoute, false, 2)], None)[1],
            "No route 2 2 no such route"
        );
    }

    #[test]
    fn what_is_missing_from_the_books_is_said_in_the_last_line() {
        let one = (Stage::Route, Outcome::NoRoute, false, 10);
        let last = |arrived| told(&[one], Some(Door { arrived, in_flight: 0 })).pop().unwrap_or_default();
        assert!(last(12).starts_with("Unaccounted 2 came in"));
        assert!(last(7).starts_with("Unaccounted −3 more ended"));
    }
}
