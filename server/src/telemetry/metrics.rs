//! `/metrics`: what this process has counted since it began, in the terms of the funnel.

use std::fmt;
use std::sync::Arc;

use app::domain::funnel::Line;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// This process at one moment.
#[derive(Clone, Debug, Default)]
pub struct Vitals {
    /// Counted at the door: arrived = Σ requests of `lines` + `in_flight`.
    pub arrived: u64,
    pub in_flight: u64,
    /// What the HTTP parser refused before there was a request.
    pub unreadable: u64,
    /// How requests have ended; several lines may say the same of different requests.
    pub lines: Vec<Line>,
    pub upstream_calls: u64,
    pub metered_locally: u64,
    pub database_up: bool,
    /// What the journal takes up on the disk, and its bound. Made ahead: that there are unshipped records, `unshipped` tells.
    pub journal_bytes: u64,
    pub journal_bytes_max: u64,
    /// Records that the database does not have yet.
    pub unshipped: u64,
    /// Why this process should get no requests now; empty when it should.
    pub unready: Vec<Unready>,
}

/// A part that is not ready, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Unready {
    pub part: &'static str,
    pub why: String,
}

/// Called at each scrape, so it must not wait.
pub type Probe = Arc<dyn Fn() -> Vitals + Send + Sync>;

/// The text of a scrape (OpenMetrics 1.0, which Prometheus reads).
pub fn encode(probe: &Probe) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("toll");
    registry.register_collector(Box::new(Scrape(probe())));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry)?;
    Ok(text)
}

#[derive(Debug)]
struct Scrape(Vitals);

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let v = &self.0;
        counter(&mut encoder, "arrivals", "Requests counted at the door", v.arrived)?;
        counter(
            &mut encoder,
            "unreadable",
            "Refused by the parser before there was a request",
            v.unreadable,
        )?;
        counter(&mut encoder, "upstream_calls", "Calls that upstreams have seen", v.upstream_calls)?;
        counter(&mut encoder, "metered_locally", "Admitted while the database was away", v.metered_locally)?;
        gauge(&mut encoder, "in_flight", "Requests that have not ended", v.in_flight)?;
        gauge(&mut encoder, "database_up", "Whether the database answers", v.database_up.into())?;
        gauge(&mut encoder, "journal_bytes", "What the journal takes up on disk", v.journal_bytes)?;
        gauge(&mut encoder, "journal_bytes_max", "Bound of the journal", v.journal_bytes_max)?;
        gauge(&mut encoder, "journal_records", "Records not yet in the database", v.unshipped)?;
        gauge(&mut encoder, "ready", "Whether /readyz says so", v.unready.is_empty().into())?;

        let ended = sums(&v.lines, |line| Some([line.stage.name(), line.outcome.name()]));
        let help = "Requests that have ended, by the stage and outcome they ended with";
        family(&mut encoder, "requests", help, ["stage", "outcome"], &ended)?;
        let reached = sums(&v.lines, |line| line.reached.then(|| [class(line.upstream_class)]));
        let help = "Requests that reached the upstream, by the class of its answer";
        family(&mut encoder, "reached_upstream", help, ["class"], &reached)
    }
}

fn class(first_digit: u8) -> &'static str {
    match first_digit {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        5 => "5xx",
        _ => "none",
    }
}

/// Adds up lines with the same labels; `None` leaves a line out. Few enough for a list.
fn sums<const N: usize>(
    lines: &[Line],
    labels: impl Fn(&Line) -> Option<[&'static str; N]>,
) -> Vec<([&'static str; N], u64)> {
    let mut sums: Vec<([&'static str; N], u64)> = Vec::new();
    for line in lines {
        let Some(labels) = labels(line) else { continue };
        match sums.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, sum)) => *sum += line.requests,
            None => sums.push((labels, line.requests)),
        }
    }
    sums
}

fn counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let counter = ConstCounter::new(value);
    counter.encode(encoder.encode_descriptor(name, help, None, counter.metric_type())?)
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> fmt::Result {
    let gauge = ConstGauge::new(value);
    gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
}

fn family<const N: usize>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    names: [&'static str; N],
    sums: &[([&'static str; N], u64)],
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (values, sum) in sums {
        let labels: [(&str, &str); N] = std::array::from_fn(|i| (names[i], values[i]));
        ConstCounter::new(*sum).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use app::domain::outcome::Outcome;
    use app::domain::stage::Stage;

    use super::*;

    fn line(stage: Stage, outcome: Outcome, upstream_class: u8, requests: u64) -> Line {
        Line { stage, outcome, reached: upstream_class > 0, upstream_class, requests }
    }

    #[test]
    fn a_scrape_adds_up_like_the_funnel() {
        let vitals = Vitals {
            arrived: 20,
            in_flight: 2,
            lines: vec![
                line(Stage::Key, Outcome::KeyMissing, 0, 4),
                line(Stage::Proxy, Outcome::Forwarded, 2, 5),
                line(Stage::Proxy, Outcome::Forwarded, 4, 6),
                line(Stage::Proxy, Outcome::UpstreamUnreachable, 0, 3),
            ],
            database_up: true,
            ..Vitals::default()
        };
        let text = encode(&(Arc::new(move || vitals.clone()) as Probe)).expect("encodes");
        for expected in [
            "# TYPE toll_requests counter",
            "toll_arrivals_total 20",
            "toll_in_flight 2",
            "toll_unreadable_total 0",
            "toll_requests_total{stage=\"key\",outcome=\"key_missing\"} 4",
            "toll_requests_total{stage=\"proxy\",outcome=\"forwarded\"} 11",
            "toll_requests_total{stage=\"proxy\",outcome=\"upstream_unreachable\"} 3",
            "toll_reached_upstream_total{class=\"2xx\"} 5",
            "toll_reached_upstream_total{class=\"4xx\"} 6",
            "toll_database_up 1",
            "toll_ready 1",
            "# EOF",
        ] {
            assert!(text.lines().any(|line| line == expected), "{expected} is not in\n{text}");
        }
        assert!(!text.contains("class=\"none\""), "{text}");
    }
}
