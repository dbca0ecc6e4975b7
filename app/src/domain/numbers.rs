//! Numbers, windows and titles as people read them.

use time::OffsetDateTime;

use crate::domain::window::Window;

/// `9806` as "9,806".
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The share of `n` in `of`, in per cent with one decimal. What is there is never "0 %", what is missing never "100 %".
pub fn percent(n: u64, of: u64) -> String {
    if n == 0 || of == 0 {
        return "0 %".into();
    }
    let share = n as f64 / of as f64 * 100.0;
    if n == of {
        "100 %".into()
    } else if share < 0.1 {
        "< 0.1 %".into()
    } else if share > 99.9 {
        "> 99.9 %".into()
    } else {
        format!("{share:.1} %")
    }
}

/// For use within a sentence; abbreviations stay.
pub fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        _ => title.to_owned(),
    }
}

/// "14:00 to 15:00, 29 November", or with both days where they differ.
pub fn window_words(window: Window) -> String {
    let day = |at: OffsetDateTime| format!("{} {}", at.day(), at.month());
    let clock = |at: OffsetDateTime| format!("{:02}:{:02}", at.hour(), at.minute());
    let (from, to) = (window.from, window.to);
    if from.date() == to.date() {
        format!("{} to {}, {}", clock(from), clock(to), day(from))
    } else {
        format!("{} {} to {} {}", day(from), clock(from), day(to), clock(to))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let grouped: Vec<_> = [0, 999, 1_000, 9_806, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(grouped, ["0", "999", "1,000", "9,806", "1,234,567"]);
    }

    #[test]
    fn a_share_is_rounded_but_never_to_nothing_or_everything() {
        assert_eq!(percent(0, 10), "0 %");
        assert_eq!(percent(0, 0), "0 %");
        assert_eq!(percent(1, 1_000_000), "< 0.1 %");
        assert_eq!(percent(4_530, 9_806), "46.2 %");
        assert_eq!(percent(999_999, 1_000_000), "> 99.9 %");
        assert_eq!(percent(7, 7), "100 %");
    }

    #[test]
    fn a_window_names_its_day_once_if_it_has_one() {
        let at = |from, to| window_words(Window::new(from, to).expect("forward"));
        assert_eq!(
            at(datetime!(2026-11-29 14:00 UTC), datetime!(2026-11-29 15:00 UTC)),
            "14:00 to 15:00, 29 November"
        );
        assert_eq!(
            at(datetime!(2026-11-28 15:00 UTC), datetime!(2026-11-29 15:00 UTC)),
            "28 November 15:00 to 29 November 15:00"
        );
    }
}
