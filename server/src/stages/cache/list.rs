//! Directives as they stand in a field: `name`, `name=value`, `name="value"`, separated by commas (RFC 9111 §5.2).

use http::header::{HeaderMap, HeaderName};

use crate::clock::Micros;

const SECOND: Micros = 1_000_000;
/// RFC 9111 §1.2.2: what is larger counts as this.
const LONGEST: u64 = 1 << 31;

/// Directives of responses whose argument is a number of seconds.
pub const LIFETIMES: [&str; 4] = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"];

/// One directive.
#[derive(Clone, Debug, PartialEq)]
pub struct Directive {
    /// In lower case.
    pub name: String,
    /// Without its quotes.
    pub argument: Option<String>,
    /// False where there is blank space around the `=`, which the grammar does not have.
    pub is_well_formed: bool,
}

/// All directives of a message, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Directives(pub Vec<Directive>);

impl Directives {
    pub fn of(headers: &HeaderMap, field: &HeaderName) -> Directives {
        let mut all = Vec::new();
        for value in headers.get_all(field) {
            let text = String::from_utf8_lossy(value.as_bytes());
            all.extend(split_outside_quotes(&text).into_iter().filter_map(parse));
        }
        Directives(all)
    }

    pub fn named(&self, name: &str) -> impl Iterator<Item = &Directive> {
        self.0.iter().filter(move |directive| directive.name == name)
    }

    pub fn first(&self, name: &str) -> Option<&Directive> {
        self.named(name).next()
    }

    pub fn has(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Delta-seconds as microseconds. What is malformed, or stands twice with different values, counts as 0: stale
    /// (§4.2.1).
    pub fn seconds(&self, name: &str) -> Option<Micros> {
        let first = self.first(name)?;
        let contradicts = self.named(name).any(|other| other.argument != first.argument);
        if contradicts || !first.is_well_formed {
            return Some(0);
        }
        let digits = first.argument.as_deref().unwrap_or_default();
        Some(whole_number(digits).unwrap_or(0) as Micros * SECOND)
    }
}

/// Digits and nothing else, at most `LONGEST`.
pub fn whole_number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse::<u64>().unwrap_or(LONGEST).min(LONGEST))
}

fn parse(part: &str) -> Option<Directive> {
    let part = part.trim();
    let (name, argument) = match part.split_once('=') {
        Some((name, argument)) => (name, Some(argument)),
        None => (part, None),
    };
    let has_space = name.ends_with(char::is_whitespace)
        || argument.is_some_and(|argument| argument.starts_with(char::is_whitespace));
    let name = name.trim().to_ascii_lowercase();
    let argument = argument.map(|argument| unquote(argument.trim()));
    (!name.is_empty()).then_some(Directive { name, argument, is_well_formed: !has_space })
}

fn unquote(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let Some(inner) = inner else { return text.to_owned() };
    let (mut plain, mut escaped) = (String::with_capacity(inner.len()), false);
    for c in inner.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            plain.push(c);
        }
    }
    plain
}

/// Commas within a quoted string belong to it.
pub fn split_outside_quotes(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, c) in text.char_indices() {
        if c == ',' && !quoted {
            parts.push(&text[start..at]);
            start = at + 1;
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use http::header::CACHE_CONTROL;
    use proptest::prelude::*;

    use super::*;

    fn max_age(values: &[&str]) -> Option<Micros> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CACHE_CONTROL, value.parse().expect("a value"));
        }
        Directives::of(&headers, &CACHE_CONTROL).seconds("max-age")
    }

    #[test]
    fn a_malformed_or_contradictory_age_is_stale_and_a_huge_one_is_capped() {
        for bad in [
            "max-age=-1",
            "max-age=x",
            "max-age=1.5",
            "max-age=",
            "max-age",
            "max-age='60'",
            "max-age =60",
            "max-age= 60",
            "max-age=1, max-age=2",
        ] {
            assert_eq!(max_age(&[bad]), Some(0), "{bad}");
        }
        assert_eq!(max_age(&["max-age=60", "max-age=5"]), Some(0));
        assert_eq!(max_age(&["max-age=60, max-age=60"]), Some(60 * SECOND));
        assert_eq!(max_age(&["max-age=99999999999999999999"]), Some(LONGEST as Micros * SECOND));
        assert_eq!(max_age(&["max-age=\"60\""]), Some(60 * SECOND));
        assert_eq!(max_age(&["max-age=0060"]), Some(60 * SECOND));
    }

    #[test]
    fn what_stands_in_quotes_is_no_directive() {
        assert_eq!(max_age(&["extension=\"max-age=3600\", max-age=1"]), Some(SECOND));
        assert_eq!(max_age(&["extension=\"a\\\", max-age=5\", max-age=1"]), Some(SECOND));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~é]{0,80}") {
            let parts = split_outside_quotes(&text);
            prop_assert_eq!(parts.join(","), text.clone());
            parts.into_iter().filter_map(parse).for_each(drop);
        }
    }
}
