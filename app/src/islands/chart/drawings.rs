//! What the charts look like, in charming's words. Labels and axes are HTML around the drawing, there before scripts;
//! the chart fills the same box as the SVG it covers.

mod traffic;

use charming::component::{Axis, Grid};
use charming::datatype::DataPointItem;
use charming::element::{
    AxisLabel, AxisLine, AxisTick, AxisType, Color, ItemStyle, Label, SplitLine, Tooltip, Trigger,
};
use charming::series::{Bar, Funnel, Line};
use serde::Serialize;

use super::data::{ChartData, LABELS, Piece, bucket_of_p95};
use super::palette::Palette;
use crate::domain::funnel::Latency;
use crate::domain::numbers::{grouped, percent};

/// The option object of ECharts, put together from charming's parts. `charming::Chart` can hold every series that there
/// is, and so brings along the code that writes each of them: most of the page's wasm, for charts that no screen has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Drawing {
    animation: bool,
    #[serde(rename = "useUTC")]
    use_utc: bool,
    tooltip: Tooltip,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<Grid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    x_axis: Option<Axis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y_axis: Option<Axis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_zoom: Option<traffic::Slider>,
    series: Vec<Series>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Series {
    Funnel(Box<Funnel>),
    Bar(Box<Bar>),
    Line(Box<Line>),
}

impl Drawing {
    fn of(series: Vec<Series>, palette: &Palette) -> Drawing {
        let tooltip = Tooltip::new()
            .trigger(Trigger::Item)
            .formatter("{b}")
            .background_color(Color::from(palette.colour("ink")))
            .border_width(0.0);
        Drawing {
            animation: !palette.is_still,
            use_utc: true,
            tooltip,
            grid: None,
            x_axis: None,
            y_axis: None,
            data_zoom: None,
            series,
        }
    }
}

pub fn drawing(data: &ChartData, palette: &Palette) -> Drawing {
    match data {
        ChartData::Funnel { pieces, .. } => funnel(pieces, palette),
        ChartData::Histogram { latency, .. } => histogram(latency, palette),
        ChartData::Traffic { traffic, bands, size, .. } => traffic::drawing(traffic, bands, *size, palette),
    }
}

/// Each piece as wide as what the stage was given, narrowing to what it let through.
fn funnel(pieces: &[Piece], palette: &Palette) -> Drawing {
    let arrived = pieces.first().map_or(0, |piece| piece.entered).max(1) as f64;
    let reached = pieces.last().map_or(0, |piece| piece.passed) as f64;
    let data: Vec<_> = pieces
        .iter()
        .map(|piece| {
            let style = ItemStyle::new().color(Color::from(palette.stage(piece.stage))).border_width(0.0);
            DataPointItem::new(piece.entered as f64).name(piece.words.clone()).item_style(style)
        })
        .collect();
    // ECharts lets the last piece run out to a point. Clamped to what reached the upstream, it ends where it should.
    let series = Funnel::new()
        .id("funnel")
        .min(reached)
        .min_size(format!("{}%", reached / arrived * 100.0))
        .max(arrived)
        .max_size("100%")
        .left("0")
        .right("0")
        .top("0")
        .bottom("0")
        .gap(2.0)
        .label(Label::new().show(false))
        .data(data);
    Drawing::of(vec![Series::Funnel(Box::new(series))], palette)
}

/// Requests by latency, the bucket of p95 shaded.
fn histogram(latency: &Latency, palette: &Palette) -> Drawing {
    let total: u64 = latency.counts.iter().sum();
    let highest = latency.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let names: Vec<_> = LABELS
        .iter()
        .zip(latency.counts)
        .enumerate()
        .map(|(bucket, (label, count))| {
            let bound = if bucket == 8 { "over 5,000 ms".into() } else { format!("up to {label} ms") };
            format!("{bound}: {} ({})", grouped(count), percent(count, total))
        })
        .collect();
    let marked = bucket_of_p95(latency);
    let shade: Vec<f64> = (0..9).map(|bucket| if marked == Some(bucket) { highest } else { 0.0 }).collect();
    let counts: Vec<f64> = latency.counts.iter().map(|count| *count as f64).collect();
    let shaded = Bar::new()
        .id("shade")
        .bar_width("100%")
        .bar_gap("-100%")
        .item_style(ItemStyle::new().color(Color::from(palette.colour("ink"))).opacity(0.07))
        .data(shade);
    let counted = Bar::new()
        .id("count")
        .bar_width("90%")
        .item_style(ItemStyle::new().color(Color::from(palette.colour("proxy"))))
        .data(counts);
    Drawing {
        grid: Some(Grid::new().left("0").right("0").top("0").bottom("0")),
        x_axis: Some(hidden(Axis::new().type_(AxisType::Category).data(names))),
        y_axis: Some(hidden(Axis::new().type_(AxisType::Value).max(highest))),
        ..Drawing::of(vec![Series::Bar(Box::new(shaded)), Series::Bar(Box::new(counted))], palette)
    }
}

/// An axis that is only there to measure.
fn hidden(axis: Axis) -> Axis {
    axis.axis_label(AxisLabel::new().show(false))
        .axis_tick(AxisTick::new().show(false))
        .axis_line(AxisLine::new().show(false))
        .split_line(SplitLine::new().show(false))
}
