//! A chart that is passed on says by itself what it shows: whose and when, what its colours mean; in the page's own look.

use charming::component::{Legend, Title};
use charming::element::font_settings::{FontFamily, FontWeight};
use charming::element::{AxisLabel, Color, Label, LabelPosition, Orient, TextStyle};

use super::{COUNT, Drawing, P95, Room, funnel, histogram, traffic};
use crate::domain::funnel::Latency;
use crate::domain::numbers::grouped;
use crate::domain::stage::Stage;
use crate::islands::chart::data::{ChartData, Piece, Size};
use crate::islands::chart::palette::Palette;

/// Width and height of a still, in pixels.
pub const SIZE: (f64, f64) = (1200.0, 640.0);

const EDGE: f64 = 36.0;
/// Where the legend begins, and the drawing below it.
const LEGEND: f64 = 128.0;
const ROOM: Room = Room { left: EDGE, right: EDGE, top: LEGEND + 40.0, bottom: EDGE };

/// Height of a piece of the funnel, and of a colour in the legend.
const PIECE: f64 = (SIZE.1 - LEGEND - EDGE) / 6.0;
const MARK: f64 = 12.0;

/// What is said above it.
pub struct Caption {
    /// "acme: over time"
    pub title: String,
    /// "14:00 to 15:00, 29 November 2026 UTC"
    pub window: String,
    /// How to read it.
    pub told: String,
}

pub fn still(data: &ChartData, caption: &Caption, palette: &Palette) -> Drawing {
    let soft = || Color::from(palette.colour("soft"));
    let drawn = match data {
        ChartData::Funnel { pieces, .. } => {
            // Its legend stands beside it.
            let room = Room { right: SIZE.0 / 2.0, top: LEGEND, ..ROOM };
            funnel(&let_through(pieces), room, palette)
        }
        ChartData::Histogram { latency, .. } => {
            let counts = |bucket: usize| grouped(latency.counts[bucket]);
            let label = Label::new().show(true).position(LabelPosition::Top).formatter("{b}").color(soft());
            let room = Room { top: ROOM.top + 24.0, bottom: EDGE + 24.0, ..ROOM };
            let drawn = histogram(latency, counts, label.font_size(14.0), room, palette);
            let bounds = AxisLabel::new().show(true).interval(0.0).color(soft()).font_size(14.0);
            Drawing { x_axis: drawn.x_axis.map(|axis| axis.axis_label(bounds)), ..drawn }
        }
        ChartData::Traffic { traffic, bands, .. } => {
            traffic::drawing(traffic, bands, Size::Small, ROOM, palette)
        }
    };
    Drawing {
        animation: false,
        text_style: Some(TextStyle::new().font_family(FontFamily::from(palette.colour("sans")))),
        title: Some(title(data, caption, palette)),
        legend: Some(legend(data, palette)),
        ..drawn
    }
}

/// The numbers that stand beside the drawing on the page.
fn let_through(pieces: &[Piece]) -> Vec<Piece> {
    let piece = |piece: &Piece| {
        let (title, passed, entered) = (piece.stage.title(), grouped(piece.passed), grouped(piece.entered));
        Piece { words: format!("{title}: {passed} of {entered}"), ..piece.clone() }
    };
    pieces.iter().map(piece).collect()
}

fn title(data: &ChartData, caption: &Caption, palette: &Palette) -> Title {
    let told = match data {
        ChartData::Histogram { latency, .. } => format!("{}; {}", caption.told, percentiles(latency)),
        _ => caption.told.clone(),
    };
    let (ink, soft) = (Color::from(palette.colour("ink")), Color::from(palette.colour("soft")));
    let serif = FontFamily::from(palette.colour("serif"));
    Title::new()
        .left(EDGE)
        .top(28)
        .padding(0.0)
        .item_gap(10.0)
        .text(caption.title.clone())
        .text_style(
            TextStyle::new()
                .color(ink)
                .font_family(serif)
                .font_weight(FontWeight::from("normal"))
                .font_size(26.0),
        )
        .subtext(format!("{}\n{}", caption.window, told))
        .subtext_style(TextStyle::new().color(soft).font_size(15.0).line_height(21.0))
}

/// "p50 0–5 ms, about 3; p95 …"
fn percentiles(latency: &Latency) -> String {
    let named = [("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99)].into_iter();
    let words: Vec<_> = named.filter_map(|(name, p)| Some(format!("{name} {}", p?.words()))).collect();
    words.join("; ")
}

/// The colours that are in the drawing, in the order of the stages.
fn legend(data: &ChartData, palette: &Palette) -> Legend {
    let legend = Legend::new()
        .padding(0.0)
        .item_gap(20.0)
        .item_width(MARK)
        .item_height(MARK)
        .text_style(TextStyle::new().color(Color::from(palette.colour("ink"))).font_size(15.0));
    match data {
        ChartData::Funnel { pieces, .. } => legend
            .orient(Orient::Vertical)
            .left(SIZE.0 / 2.0 + EDGE)
            .top(LEGEND + (PIECE - MARK) / 2.0)
            .item_gap(PIECE - MARK)
            .data(let_through(pieces).into_iter().map(|piece| piece.words).collect::<Vec<_>>()),
        ChartData::Histogram { .. } => legend.left(EDGE).top(LEGEND).data(vec![COUNT, P95]),
        ChartData::Traffic { traffic, .. } => {
            let ended = Stage::ALL.into_iter().filter(|stage| traffic.total(*stage) > 0);
            let names: Vec<_> = ended.map(|stage| traffic::name(traffic, stage)).collect();
            legend.left(EDGE).top(LEGEND).data(names)
        }
    }
}
