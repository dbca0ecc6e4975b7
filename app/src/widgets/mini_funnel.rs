//! A funnel small enough for a row of a table: from the door on the left to the upstream on the right.

use leptos::prelude::*;

use crate::domain::ends::Ends;
use crate::domain::numbers::grouped;

/// Of one stage, in the units of the drawing.
const WIDTH: f64 = 20.0;
const HEIGHT: f64 = 28.0;

#[component]
pub fn MiniFunnel(ends: Ends) -> impl IntoView {
    let shapes: Vec<_> = shapes(&ends)
        .into_iter()
        .map(|(class, points)| view! { <polygon class=class points=points/> })
        .collect();
    let words =
        format!("{} arrived, {} reached the upstream", grouped(ends.arrived()), grouped(ends.reached));
    view! {
        <svg class="mini-funnel" viewBox=format!("0 0 {} {HEIGHT}", WIDTH * 6.0) preserveAspectRatio="none" role="img" aria-label=words>
            <path class="ground" d=format!("M0 {}H{}", HEIGHT / 2.0, WIDTH * 6.0)/>
            {shapes}
        </svg>
    }
}

/// A trapezoid a stage, as high as what came in and, at its end, as what went on.
fn shapes(ends: &Ends) -> Vec<(String, String)> {
    let arrived = ends.arrived();
    if arrived == 0 {
        return Vec::new();
    }
    // What is there is seen, however little.
    let half = |n: u64| match n {
        0 => 0.0,
        n => (n as f64 / arrived as f64 * HEIGHT / 2.0).max(0.5),
    };
    let middle = HEIGHT / 2.0;
    ends.flow()
        .into_iter()
        .enumerate()
        .filter(|(_, (_, entered, _))| *entered > 0)
        .map(|(place, (stage, entered, passed))| {
            let (x, end) = (place as f64 * WIDTH, (place as f64 + 1.0) * WIDTH - 1.0);
            let (a, b) = (half(entered), half(passed));
            let points = format!(
                "{x},{:.2} {end},{:.2} {end},{:.2} {x},{:.2}",
                middle - a,
                middle - b,
                middle + b,
                middle + a
            );
            (format!("stage-{}", stage.name()), points)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_narrows_by_what_each_stage_stopped_and_ends_where_nothing_is_left() {
        let ends = Ends { stopped: [50, 50, 0, 0, 0, 0], reached: 0 };
        let shapes = shapes(&ends);
        assert_eq!(shapes.len(), 2);
        assert_eq!(shapes[0], ("stage-route".into(), "0,0.00 19,7.00 19,21.00 0,28.00".into()));
        assert_eq!(shapes[1], ("stage-key".into(), "20,7.00 39,14.00 39,14.00 20,21.00".into()));
        assert!(super::shapes(&Ends::default()).is_empty());
    }
}
