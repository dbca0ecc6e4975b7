//! Traffic over time: a column a step, stacked by stage, and bands where a breaker was open.

use charming::component::Axis;
use charming::datatype::{CompositeValue, DataPoint};
use charming::element::{
    AxisLabel, AxisLine, AxisPointer, AxisPointerType, AxisTick, AxisType, Color, Emphasis, EmphasisFocus,
    ItemStyle, Label, LabelPosition, LineStyle, MarkArea, MarkAreaData, SplitLine, Symbol, Tooltip, Trigger,
};
use charming::series::{Bar, Line};
use serde::Serialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{Drawing, Room, Series, hidden};
use crate::domain::numbers::grouped;
use crate::domain::over_time::OverTime;
use crate::domain::stage::Stage;
use crate::islands::chart::data::{Band, LINE, Size, ceiling, names, stage_of_series};
use crate::islands::chart::palette::Palette;

/// Height below the columns for the hours and for the slider, as in the style sheet.
const AXIS: i32 = 26;
const SLIDER: i32 = 14;

/// Zooms along the axis. charming's has neither height nor a way to leave out its shadow and its handle.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Slider {
    #[serde(rename = "type")]
    type_: &'static str,
    /// What is cut off at an end of the axis is cut off, and not left out.
    filter_mode: &'static str,
    left: i32,
    right: i32,
    bottom: i32,
    height: i32,
    show_data_shadow: bool,
    show_detail: bool,
    brush_select: bool,
    move_handle_size: i32,
    border_color: String,
    filler_color: String,
    background_color: &'static str,
}

impl Slider {
    fn new(palette: &Palette) -> Slider {
        Slider {
            type_: "slider",
            filter_mode: "none",
            left: 6,
            right: 6,
            bottom: 0,
            height: SLIDER - 4,
            show_data_shadow: false,
            show_detail: false,
            brush_select: false,
            move_handle_size: 0,
            border_color: palette.colour("rule"),
            filler_color: palette.colour("rule"),
            background_color: "transparent",
        }
    }
}

/// `room` is what is left around the columns and their hours.
pub fn drawing(traffic: &OverTime, bands: &[Band], size: Size, room: Room, palette: &Palette) -> Drawing {
    let columns = (0..Stage::ALL.len()).filter_map(stage_of_series);
    let mut series: Vec<_> =
        columns.map(|stage| Series::Bar(Box::new(column(traffic, stage, palette)))).collect();
    for (line, name) in names(bands).into_iter().enumerate() {
        let bands: Vec<&Band> = bands.iter().filter(|band| band.name == name).collect();
        series.push(Series::Line(Box::new(open(traffic, &bands, line, palette))));
    }
    let soft = Color::from(palette.colour("soft"));
    let hours = AxisLabel::new().color(soft.clone()).font_size(12.0).formatter(hours(traffic));
    let time = Axis::new()
        .type_(AxisType::Time)
        .min(milliseconds(traffic.window.from.unix_timestamp()))
        .max(milliseconds(traffic.window.to.unix_timestamp()))
        // Few: a column has room for its own, on a narrow screen too.
        .split_number(5)
        .axis_label(hours)
        .axis_tick(AxisTick::new().show(false))
        .axis_line(AxisLine::new().show(false))
        .split_line(SplitLine::new().show(false));
    let slider = (size == Size::Whole).then(|| Slider::new(palette));
    let below = f64::from(if slider.is_some() { AXIS + SLIDER } else { AXIS });
    let pointer = AxisPointer::new()
        .type_(AxisPointerType::Line)
        .line_style(LineStyle::new().color(palette.colour("edge")));
    let tooltip = Tooltip::new()
        .trigger(Trigger::Axis)
        .axis_pointer(pointer)
        .background_color(Color::from(palette.colour("ink")))
        .border_width(0.0);
    Drawing {
        grid: Some(Room { bottom: room.bottom + below, ..room }.grid()),
        x_axis: Some(time),
        y_axis: Some(hidden(Axis::new().type_(AxisType::Value).max(ceiling(traffic, bands, size)))),
        data_zoom: slider,
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
        .id(stage.name())
        .name(name(traffic, stage))
        .stack("traffic")
        .bar_width("92%")
        .item_style(ItemStyle::new().color(Color::from(palette.stage(stage))))
        .emphasis(Emphasis::new().focus(EmphasisFocus::None))
        .data((0..traffic.points.len()).map(point).collect::<Vec<_>>())
}

/// As the legend has it: "Quota 4,530".
pub fn name(traffic: &OverTime, stage: Stage) -> String {
    format!("{} {}", stage.title(), grouped(traffic.total(stage)))
}

/// The bands of one upstream, its name at the first of them, in a line of its own. They belong to a series in ECharts: one
/// that is not drawn.
fn open(traffic: &OverTime, bands: &[&Band], line: usize, palette: &Palette) -> Line {
    let edge = |name: &str, at: i64| MarkAreaData::new().name(name).x_axis(iso(at));
    let areas: Vec<_> = bands
        .iter()
        .enumerate()
        .map(|(n, band)| {
            let words = if n == 0 { band.words() } else { String::new() };
            (edge(&words, band.from), edge("", band.to))
        })
        .collect();
    // Where there is more room beside it.
    let place = match bands.first().is_some_and(|band| band.is_late(traffic)) {
        true => LabelPosition::InsideTopRight,
        false => LabelPosition::InsideTopLeft,
    };
    let label = Label::new()
        .show(true)
        .position(place)
        .offset((0.0, line as f64 * LINE))
        .color(Color::from(palette.colour("soft")))
        .font_size(12.0);
    let area = MarkArea::new()
        .silent(true)
        .label(label)
        .item_style(ItemStyle::new().color(Color::from(palette.colour("breaker"))).opacity(0.16))
        .data(areas);
    let ends = [traffic.window.from, traffic.window.to].map(|at| {
        let at = milliseconds(at.unix_timestamp());
        DataPoint::from(vec![CompositeValue::from(at), 0.0.into()])
    });
    Line::new()
        .id(format!("open-{line}"))
        .silent(true)
        .symbol(Symbol::None)
        .line_style(LineStyle::new().width(0.0))
        .mark_area(area)
        .data(ends.to_vec())
}

fn hours(traffic: &OverTime) -> &'static str {
    match traffic.window.length().whole_hours() {
        ..=25 => "{HH}:{mm}",
        26..=48 => "{d} {MMM} {HH}:{mm}",
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
