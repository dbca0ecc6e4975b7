//! Traffic over time: a column a step, stacked by stage, and bands where a door was shut.

use charming::component::{Axis, DataZoom, DataZoomType, FilterMode, Grid};
use charming::datatype::{CompositeValue, DataPoint};
use charming::element::{
    AxisLabel, AxisLine, AxisPointer, AxisPointerType, AxisTick, AxisType, Color, Emphasis, EmphasisFocus,
    ItemStyle, Label, LabelPosition, LineStyle, MarkArea, MarkAreaData, SplitLine, Symbol, Tooltip, Trigger,
};
use charming::series::{Bar, Line};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Drawing, Series, hidden};
use crate::domain::over_time::OverTime;
use crate::domain::stage::Stage;
use crate::islands::chart::data::{Band, stage_of_series};
use crate::islands::chart::palette::Palette;

/// Height below the columns for the hours and for the slider, as in the style sheet.
const AXIS: i32 = 26;
const SLIDER: f64 = 14.0;

pub fn drawing(traffic: &OverTime, bands: &[Band], palette: &Palette) -> Drawing {
    let columns = (0..Stage::ALL.len()).filter_map(stage_of_series);
    let mut series: Vec<_> =
        columns.map(|stage| Series::Bar(Box::new(column(traffic, stage, palette)))).collect();
    series.push(Series::Line(Box::new(shut(traffic, bands, palette))));
    let soft = Color::from(palette.colour("soft"));
    let hours = AxisLabel::new().color(soft.clone()).font_size(12.0).formatter(hours(traffic));
    let time = Axis::new()
        .type_(AxisType::Time)
        .min(milliseconds(traffic.window.from.unix_timestamp()))
        .max(milliseconds(traffic.window.to.unix_timestamp()))
        .axis_label(hours)
        .axis_tick(AxisTick::new().show(false))
        .axis_line(AxisLine::new().show(false))
        .split_line(SplitLine::new().show(false));
    let slider = DataZoom::new()
        .type_(DataZoomType::Slider)
        // What is cut off at an end of the axis is cut off, and not left out.
        .filter_mode(FilterMode::None)
        .left(0)
        .right(0)
        .bottom(0)
        .border_color(Color::from(palette.colour("rule")))
        .filler_color(Color::from(palette.colour("rule")))
        .background_color(Color::from("transparent"));
    let pointer = AxisPointer::new()
        .type_(AxisPointerType::Line)
        .line_style(LineStyle::new().color(palette.colour("edge")));
    let tooltip = Tooltip::new()
        .trigger(Trigger::Axis)
        .axis_pointer(pointer)
        .background_color(Color::from(palette.colour("ink")))
        .border_width(0.0);
    Drawing {
        grid: Some(Grid::new().left(0).right(0).top(0).bottom(AXIS + SLIDER as i32)),
        x_axis: Some(time),
        y_axis: Some(hidden(Axis::new().type_(AxisType::Value).max(traffic.top()))),
        data_zoom: Some(slider),
        tooltip,
        ..Drawing::of(series, palette)
    }
}

fn column(traffic: &OverTime, stage: Stage, palette: &Palette) -> Bar {
    let point = |point| {
        let (from, to) = traffic.whole(point);
        let middle = milliseconds(from) + milliseconds(to - from) / 2.0;
        DataPoint::from(vec![CompositeValue::from(middle), traffic.rate(point, stage).into()])
    };
    Bar::new()
        .name(stage.title())
        .stack("traffic")
        .bar_width("92%")
        .item_style(ItemStyle::new().color(Color::from(palette.stage(stage))))
        .emphasis(Emphasis::new().focus(EmphasisFocus::None))
        .data((0..traffic.points.len()).map(point).collect::<Vec<_>>())
}

/// Bands belong to a series in ECharts: one without a line.
fn shut(traffic: &OverTime, bands: &[Band], palette: &Palette) -> Line {
    let edge = |name: &str, at: i64| MarkAreaData::new().name(name).x_axis(iso(at));
    let bands = bands.iter().map(|band| {
        let name = format!("{}: door shut", band.name);
        (edge(&name, band.from), edge("", band.to))
    });
    let label = Label::new()
        .show(true)
        .position(LabelPosition::InsideTopLeft)
        .color(Color::from(palette.colour("soft")))
        .font_size(12.0);
    let area = MarkArea::new()
        .silent(true)
        .label(label)
        .item_style(ItemStyle::new().color(Color::from(palette.colour("breaker"))).opacity(0.16))
        .data(bands.collect());
    let ends = [traffic.window.from, traffic.window.to].map(|at| {
        let at = milliseconds(at.unix_timestamp());
        DataPoint::from(vec![CompositeValue::from(at), 0.0.into()])
    });
    Line::new()
        .silent(true)
        .symbol(Symbol::None)
        .line_style(LineStyle::new().width(0.0))
        .mark_area(area)
        .data(ends.to_vec())
}

fn hours(traffic: &OverTime) -> &'static str {
    match traffic.window.length().whole_hours() {
        ..=25 => "{HH}:{mm}",
        ..=48 => "{d} {MMM} {HH}:{mm}",
        _ => "{d} {MMM}",
    }
}

fn milliseconds(seconds: i64) -> f64 {
    seconds as f64 * 1000.0
}

fn iso(seconds: i64) -> String {
    let at = OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    at.format(&Rfc3339).unwrap_or_default()
}
