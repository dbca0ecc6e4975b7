//! Sizes and durations as people write them, in `toll.toml`, on the command line and in the file of `toll apply`.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error("{0:?} is no size: write a whole number and B, KiB, MiB, GiB or TiB, such as \"256MiB\"")]
    NotASize(String),
    #[error("{0:?} is no size: write a whole number and a unit such as \"1MiB\", or \"none\"")]
    NotASizeNorNone(String),
    #[error("{0:?} is larger than can be counted in 64 bits")]
    TooLarge(String),
    #[error(
        "{0:?} is no duration: write a number and ms, s, m, h or d, such as \"250ms\", \"10s\" or \"30d\""
    )]
    NotADuration(String),
}

const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("B", 1),
];

const SPANS: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// Reads `1MiB`, `64 kB`, `0`: a whole number and a unit in any case; bytes where there is none.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let bad = || UnitError::NotASize(text.to_owned());
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = (&text[..end], text[end..].trim_start_matches(' '));
    let bytes = match unit {
        "" => 1,
        unit => SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(bad)?.1,
    };
    if digits.is_empty() {
        return Err(bad());
    }
    let number: u64 = digits.parse().map_err(|_| UnitError::TooLarge(text.to_owned()))?;
    number.checked_mul(bytes).ok_or_else(|| UnitError::TooLarge(text.to_owned()))
}

/// As [`parse_size`], where `none` says that there is no bound.
pub fn parse_size_or_none(text: &str) -> Result<Option<u64>, UnitError> {
    match parse_size(text) {
        _ if text == "none" => Ok(None),
        Err(UnitError::NotASize(text)) => Err(UnitError::NotASizeNorNone(text)),
        size => size.map(Some),
    }
}

/// In the largest unit of 1024s that leaves no rest; [`parse_size`] reads it back.
pub fn format_size(bytes: u64) -> String {
    let binary =
        SIZES.iter().find(|(name, size)| name.ends_with("iB") && bytes > 0 && bytes.is_multiple_of(*size));
    match binary {
        Some((name, size)) => format!("{}{name}", bytes / size),
        None => format!("{bytes}B"),
    }
}

/// Reads `250ms`, `10s`, `15m`, `30d`, `1h 30m`.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    humantime::parse_duration(text).map_err(|_| UnitError::NotADuration(text.to_owned()))
}

/// In the largest unit that leaves no rest, such as `15m` or `1500ms`; [`parse_duration`] reads it back.
pub fn format_duration(duration: Duration) -> String {
    let ns = duration.as_nanos();
    let unit = SPANS.iter().find(|(_, span)| ns > 0 && ns.is_multiple_of(*span));
    match unit {
        Some((name, span)) => format!("{}{name}", ns / span),
        None => "0s".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_are_read_with_binary_decimal_and_no_units() {
        assert_eq!(parse_size("1MiB"), Ok(1 << 20));
        assert_eq!(parse_size("256 mib"), Ok(256 << 20));
        assert_eq!(parse_size("2MB"), Ok(2_000_000));
        assert_eq!(parse_size("0"), Ok(0));
        assert_eq!(parse_size_or_none("none"), Ok(None));
        assert_eq!(parse_size_or_none("1KiB"), Ok(Some(1024)));
    }

    #[test]
    fn what_is_no_size_is_refused_with_the_mend() {
        for text in ["", "MiB", "1.5MiB", "-1", "+1", "1Mi", "one", "none", "1 MiB ", "1\u{a0}B"] {
            assert_eq!(parse_size(text), Err(UnitError::NotASize(text.to_owned())));
        }
        for text in ["99999999999999999999", "18446744073709551615KiB"] {
            assert_eq!(parse_size(text), Err(UnitError::TooLarge(text.to_owned())));
        }
        let error = parse_size_or_none("1 apple").expect_err("no size").to_string();
        assert!(error.contains("\"1 apple\"") && error.contains("\"none\""), "{error}");
    }

    #[test]
    fn durations_are_read_and_written_as_the_contract_writes_them() {
        for text in ["250ms", "10s", "15m", "30d", "400d", "1h", "1500ms", "0s"] {
            assert_eq!(format_duration(parse_duration(text).expect("a duration")), text);
        }
        assert_eq!(parse_duration("1h 30m").map(format_duration), Ok("90m".to_owned()));
        for text in ["", "10", "s", "-1s", "1 fortnight"] {
            assert_eq!(parse_duration(text), Err(UnitError::NotADuration(text.to_owned())));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bytes in any::<u64>(), shift in 0u32..50, ns in 0u64..u64::MAX / 4) {
            let bytes = bytes >> 14 << shift.min(13);
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
        }

        #[test]
        fn any_text_is_a_value_or_an_error(text in ".{0,12}") {
            let _ = parse_size_or_none(&text);
            let _ = parse_duration(&text);
        }
    }
}
