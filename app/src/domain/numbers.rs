//! Numbers, lengths of time and titles as people read them.

use time::Duration;

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

/// `1234.5` as "1,234.5", and with one decimal only where there is one.
pub fn tenths(n: f64) -> String {
    let tenths = (n.max(0.0) * 10.0).round() as u64;
    match tenths % 10 {
        0 => grouped(tenths / 10),
        rest => format!("{}.{rest}", grouped(tenths / 10)),
    }
}

/// "1 request", "312 requests": so many of what is called `one`.
pub fn count(n: u64, one: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        _ => format!("{} {one}s", grouped(n)),
    }
}

/// "3 of 5 routes", "All 5 routes", "The one route": how many of all are meant, at the beginning of a sentence.
pub fn so_many_of(some: u64, all: u64, one: &str) -> String {
    match (some == all, all) {
        (true, 1) => format!("The one {one}"),
        (true, _) => format!("All {}", count(all, one)),
        (false, _) => format!("{} of {}", grouped(some), count(all, one)),
    }
}

/// The verb that follows a number.
pub fn were(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

/// With a number and its unit on one line, however the text is broken: "77 %", "9 min 32 s".
pub fn unbroken(text: &str) -> String {
    let (mut kept, mut is_first) = (String::with_capacity(text.len()), true);
    for word in text.split(' ') {
        let is_unit =
            ["%", "ms", "s", "min", "h", "d"].contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        if !is_first {
            kept.push(if is_unit && kept.ends_with(|last: char| last.is_ascii_digit()) {
                '\u{a0}'
            } else {
                ' '
            });
        }
        kept.push_str(word);
        is_first = false;
    }
    kept
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

/// A length of time in its two largest units: "42 s", "12 min 5 s", "3 h 20 min", "2 d".
pub fn span_words(span: Duration) -> String {
    let seconds = span.whole_seconds();
    let (large, small, size, part) = match seconds {
        ..60 => return format!("{seconds} s"),
        60..3_600 => ("min", "s", 60, 1),
        3_600..86_400 => ("h", "min", 3_600, 60),
        _ => ("d", "h", 86_400, 3_600),
    };
    match seconds % size / part {
        0 => format!("{} {large}", seconds / size),
        rest => format!("{} {large} {rest} {small}", seconds / size),
    }
}

/// "a", "a and b", "a, b and c".
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Microseconds as "0.4 ms", "180 ms" or "12.3 s".
pub fn duration(micros: u64) -> String {
    match micros {
        ..9_950 => format!("{:.1} ms", micros as f64 / 1e3),
        9_950..999_500 => format!("{:.0} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// Microseconds in one unit: "400 ms", "43 s", "41 min", "2 h".
pub fn roughly(micros: u64) -> String {
    match micros / 1_000 {
        ms @ ..1_000 => format!("{ms} ms"),
        ms @ 1_000..120_000 => format!("{} s", ms / 1_000),
        ms @ 120_000..7_200_000 => format!("{} min", ms / 60_000),
        ms => format!("{} h", grouped(ms / 3_600_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_roughly_is_told_in_one_unit() {
        let told: Vec<_> =
            [400_000, 43_000_000, 2_460_000_000, 9_000_000_000].map(roughly).into_iter().collect();
        assert_eq!(told, ["400 ms", "43 s", "41 min", "2 h"]);
    }

    #[test]
    fn thousands_are_grouped() {
        let grouped: Vec<_> = [0, 999, 1_000, 9_806, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(grouped, ["0", "999", "1,000", "9,806", "1,234,567"]);
    }

    #[test]
    fn a_decimal_is_told_where_there_is_one() {
        let said: Vec<_> = [0.0, 0.04, 0.5, 9.96, 60.0, 999_999.5, 1_000_000.0].map(tenths).into();
        assert_eq!(said, ["0", "0", "0.5", "10", "60", "999,999.5", "1,000,000"]);
    }

    #[test]
    fn one_is_counted_in_the_singular() {
        assert_eq!(
            [0, 1, 2, 1_240].map(|n| count(n, "call")),
            ["0 calls", "1 call", "2 calls", "1,240 calls"]
        );
        assert_eq!([0, 1, 2].map(were), ["were", "was", "were"]);
        let some = [(1, 5), (5, 5), (1, 1), (0, 1)].map(|(some, all)| so_many_of(some, all, "route"));
        assert_eq!(some, ["1 of 5 routes", "All 5 routes", "The one route", "0 of 1 route"]);
    }

    #[test]
    fn a_number_keeps_its_unit_beside_it() {
        assert_eq!(unbroken("77 % (60.0 %): 9 min 32 s."), "77\u{a0}% (60.0\u{a0}%): 9\u{a0}min 32\u{a0}s.");
        assert_eq!(unbroken(" 2 hits in a s"), " 2 hits in a s");
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
    fn durations_have_the_unit_that_fits() {
        let said: Vec<_> = [0, 420, 9_949, 9_950, 180_400, 999_499, 999_500, 12_345_678].map(duration).into();
        assert_eq!(said, ["0.0 ms", "0.4 ms", "9.9 ms", "10 ms", "180 ms", "999 ms", "1.0 s", "12.3 s"]);
    }

    #[test]
    fn lengths_of_time_are_told_in_two_units() {
        let said: Vec<_> = [0, 42, 60, 725, 12_000, 86_400, 180_000]
            .map(|seconds| span_words(Duration::seconds(seconds)))
            .into();
        assert_eq!(said, ["0 s", "42 s", "1 min", "12 min 5 s", "3 h 20 min", "1 d", "2 d 2 h"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
