//! What the charts look like, in charming's words. Labels and axes are HTML around the drawing, there before scripts;
//! the chart fills the same box as the SVG it covers.

mod still;
mod traffic;

use charming::component::{Axis, Grid, Legend, Title};
use charming::datatype::DataPointItem;
use charming::element::{
    AxisLabel, AxisLine, AxisTick, AxisType, Color, ItemStyle, Label, SplitLine, TextStyle, Tooltip, Trigger,
};
use charming::series::{Bar, Funnel, Line};
use serde::Serialize;

pub use self::still::{Caption, SIZE, still};

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
    text_style: Option<TextStyle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Title>,
    #[serde(skip_serializing_if = "Option::is_none")]
    legend: Option<Legend>,
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
            text_style: None,
            title: None,
            legend: None,
            grid: None,
            x_axis: None,
            y_axis: None,
            data_zoom: None,
            series,
        }
    }
}

/// Pixels around what is drawn: none on the page, where words stand beside it in HTML.
#[derive(Clone, Copy, Default)]
struct Room {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Room {
    fn grid(self) -> Grid {
        Grid::new().left(self.left).right(self.right).top(self.top).bottom(self.bottom)
    }
}

pub fn drawing(data: &ChartData, palette: &Palette) -> Drawing {
    let room = Room::default();
    match data {
        ChartData::Funnel { pieces, .. } => funnel(pieces, room, palette),
        ChartData::Histogram { latency, .. } => {
            let total: u64 = latency.counts.iter().sum();
            let words = |bucket: usize| {
                let count = latency.counts[bucket];
                format!("{}: {} ({})", bound(bucket), grouped(count), percent(count, total))
            };
            histogram(latency, words, Label::new().show(false), room, palette)
        }
        ChartData::Traffic { traffic, bands, size, .. } => {
            traffic::drawing(traffic, bands, *size, room, palette)
        }
    }
}

/// Each piece as wide as what the stage was given, narrowing to what it let through.
fn funnel(pieces: &[Piece], room: Room, palette: &Palette) -> Drawing {
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
        .left(room.left)
        .right(room.right)
        .top(room.top)
        .bottom(room.bottom)
        .gap(2.0)
        .label(Label::new().show(false))
        .data(data);
    Drawing::of(vec![Series::Funnel(Box::new(series))], palette)
}

/// Requests by latency, the bucket of p95 shaded. `names` are what is said of each bar, by its tooltip or its label.
fn histogram(
    latency: &Latency,
    names: impl Fn(usize) -> String,
    label: Label,
    room: Room,
    palette: &Palette,
) -> Drawing {
    let highest = latency.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let marked = bucket_of_p95(latency);
    let bar = |id: &str, name: &str, height: &dyn Fn(usize) -> f64| {
        let point = |bucket| DataPointItem::new(height(bucket)).name(names(bucket));
        Bar::new().id(id).name(name).bar_width("90%").data((0..9).map(point).collect::<Vec<_>>())
    };
    let shaded = bar("shade", P95, &|bucket| if marked == Some(bucket) { highest } else { 0.0 })
        .bar_gap("-100%")
        .item_style(ItemStyle::new().color(Color::from(palette.colour("ink"))).opacity(0.07));
    let counted = bar("count", COUNT, &|bucket| latency.counts[bucket] as f64)
        .label(label)
        .item_style(ItemStyle::new().color(Color::from(palette.colour("proxy"))));
    let bounds: Vec<_> = (0..9).map(bound).collect();
    Drawing {
        grid: Some(room.grid()),
        x_axis: Some(hidden(Axis::new().type_(AxisType::Category).data(bounds))),
        y_axis: Some(hidden(Axis::new().type_(AxisType::Value).max(highest))),
        ..Drawing::of(vec![Series::Bar(Box::new(shaded)), Series::Bar(Box::new(counted))], palette)
    }
}

/// What the colours of a histogram mean.
const COUNT: &str = "requests";
const P95: &str = "the bucket that p95 lies in";

fn bound(bucket: usize) -> String {
    if bucket == 8 { "over 5,000 ms".into() } else { format!("up to {} ms", LABELS[bucket]) }
}

/// An axis that is only there to measure.
fn hidden(axis: Axis) -> Axis {
    axis.axis_label(AxisLabel::new().show(false))
        .axis_tick(AxisTick::new().show(false))
        .axis_line(AxisLine::new().show(false))
        .split_line(SplitLine::new().show(false))
}
