//! A part of a stored answer (RFC 9110 §14).

use std::ops::Range;

/// What a `Range` field asks of a body of this many bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it: no range, none that can be read, or several, which a server may ignore (§14.2).
    Whole,
    Bytes(Range<usize>),
    /// No byte of it is there.
    Unsatisfiable,
}

pub fn part(field: Option<&str>, length: usize) -> Part {
    let spec = field.and_then(|field| field.split_once('=')).and_then(|(unit, spec)| {
        let is_single = !spec.contains(',');
        (unit.trim().eq_ignore_ascii_case("bytes") && is_single).then_some(spec.trim())
    });
    let Some((first, last)) = spec.and_then(|spec| spec.split_once('-')) else { return Part::Whole };
    match (position(first), position(last)) {
        // The last so many bytes.
        (None, Some(0)) if first.is_empty() => Part::Unsatisfiable,
        (None, Some(_)) if first.is_empty() && length == 0 => Part::Unsatisfiable,
        (None, Some(count)) if first.is_empty() => Part::Bytes(length.saturating_sub(count)..length),
        (Some(first), _) if last.is_empty() => within(first, length, length),
        (Some(first), Some(last)) if first <= last => within(first, last.saturating_add(1), length),
        _ => Part::Whole,
    }
}

fn within(first: usize, end: usize, length: usize) -> Part {
    if first < length { Part::Bytes(first..end.min(length)) } else { Part::Unsatisfiable }
}

fn position(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn first_last_open_and_suffix_ranges_are_read_rfc_9110_14_1_2() {
        for (field, expected) in [
            ("bytes=0-1", 0..2),
            ("bytes=3-", 3..10),
            ("bytes=-4", 6..10),
            ("bytes=-40", 0..10),
            ("bytes=8-99999999999999999999999", 8..10),
            ("BYTES=9-9", 9..10),
        ] {
            assert_eq!(part(Some(field), 10), Part::Bytes(expected), "{field}");
        }
        for whole in ["bytes=2-1", "bytes=", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-0,2-3", "0-1", ""]
        {
            assert_eq!(part(Some(whole), 10), Part::Whole, "{whole}");
        }
        for none in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(part(Some(none), 10), Part::Unsatisfiable, "{none}");
        }
        assert_eq!(part(Some("bytes=-1"), 0), Part::Unsatisfiable);
        assert_eq!(part(None, 10), Part::Whole);
    }

    proptest! {
        #[test]
        fn a_part_lies_within_the_body_and_is_not_empty(text in "bytes=[0-9,-]{0,12}", length in 0usize..50) {
            if let Part::Bytes(range) = part(Some(&text), length) {
                prop_assert!(range.start < range.end && range.end <= length);
            }
        }
    }
}
