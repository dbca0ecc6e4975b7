//! Single values of the file: of the right type, and by the rules. Each gives None once it has told what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use toml::de::DeValue;

use super::Access;
use super::reader::{Faults, Value};
use super::rules;
use crate::units;

/// Longer spans are mistakes, and would leave what a timestamp can hold.
const YEAR_MS: i64 = 365 * 86_400_000;

pub fn text<'v>(value: &'v Value<'_>, faults: &mut Faults) -> Option<&'v str> {
    let text = value.get_ref().as_str();
    if text.is_none() {
        mistyped(value, faults, "a text in quotes");
    }
    text
}

/// A text that `rule` finds nothing wrong with.
pub fn ruled(
    rule: impl Fn(&str) -> Result<(), String>,
) -> impl Fn(&Value<'_>, &mut Faults) -> Option<String> {
    move |value, faults| {
        let text = text(value, faults)?;
        match rule(text) {
            Ok(()) => Some(text.to_owned()),
            Err(wrong) => {
                faults.add(value.span().start, wrong);
                None
            }
        }
    }
}

pub fn boolean(value: &Value<'_>, faults: &mut Faults) -> Option<bool> {
    let boolean = value.get_ref().as_bool();
    if boolean.is_none() {
        mistyped(value, faults, "true or false");
    }
    boolean
}

/// A whole number of `range`.
pub fn whole(range: RangeInclusive<i32>) -> impl Fn(&Value<'_>, &mut Faults) -> Option<i32> {
    move |value, faults| {
        let read = integer(value.get_ref()).and_then(|number| i32::try_from(number).ok());
        let fits = read.filter(|number| range.contains(number));
        if fits.is_none() {
            mistyped(value, faults, &format!("a whole number from {} to {}", range.start(), range.end()));
        }
        fits
    }
}

/// A number that is neither negative nor endless.
pub fn rate(value: &Value<'_>, faults: &mut Faults) -> Option<f64> {
    let read = match value.get_ref() {
        DeValue::Float(float) => float.as_str().parse().ok(),
        other => integer(other).map(|number| number as f64),
    };
    let fits = read.filter(|number: &f64| number.is_finite() && *number >= 0.0);
    if fits.is_none() {
        mistyped(value, faults, "a number of 0 or more, such as 1.0");
    }
    // -0.0 is 0.0 and would read as a difference.
    fits.map(f64::abs)
}

/// Milliseconds.
pub fn duration(least_ms: i64) -> impl Fn(&Value<'_>, &mut Faults) -> Option<i64> {
    move |value, faults| {
        let Some(text) = value.get_ref().as_str() else {
            mistyped(value, faults, "a duration in quotes, such as \"10s\"");
            return None;
        };
        let wrong = match units::parse_duration(text) {
            Err(error) => error.to_string(),
            Ok(span) if span.subsec_nanos() % 1_000_000 != 0 => {
                format!("{text:?} is finer than a millisecond; write such as \"250ms\"")
            }
            Ok(span) => match i64::try_from(span.as_millis()) {
                Ok(ms) if (least_ms..=YEAR_MS).contains(&ms) => return Some(ms),
                _ if least_ms == 0 => format!("{text:?} is too long; write at most \"365d\""),
                _ => {
                    format!("{text:?} is out of bounds; write at least \"{least_ms}ms\" and at most \"365d\"")
                }
            },
        };
        faults.add(value.span().start, wrong);
        None
    }
}

/// Bytes; inner None: unlimited.
pub fn size_or_none(value: &Value<'_>, faults: &mut Faults) -> Option<Option<i64>> {
    let Some(text) = value.get_ref().as_str() else {
        mistyped(value, faults, "a size in quotes, such as \"1MiB\", or \"none\"");
        return None;
    };
    let read = units::parse_size_or_none(text).map(|size| size.map(i64::try_from).transpose());
    match read {
        Ok(Ok(size)) => return Some(size),
        Ok(Err(_)) => {
            faults.add(value.span().start, format!("{text:?} is too large; write \"none\" for no limit"))
        }
        Err(error) => faults.add(value.span().start, error.to_string()),
    }
    None
}

pub fn access(value: &Value<'_>, faults: &mut Faults) -> Option<Access> {
    let access = match value.get_ref().as_str() {
        Some("key") => Some(Access::Key),
        Some("public") => Some(Access::Public),
        _ => None,
    };
    if access.is_none() {
        mistyped(value, faults, "\"key\" or \"public\"");
    }
    access
}

/// All elements, each read by `read`, none of them twice. Bad ones are all told.
pub fn list<'t>(
    value: &Value<'t>,
    faults: &mut Faults,
    mut read: impl FnMut(&Value<'t>, &mut Faults) -> Option<String>,
) -> Option<Vec<String>> {
    let Some(array) = value.get_ref().as_array() else {
        mistyped(value, faults, "a list in brackets");
        return None;
    };
    let mut list = Vec::new();
    for element in array.iter() {
        let Some(text) = read(element, faults) else { continue };
        if list.contains(&text) {
            faults.add(element.span().start, format!("{text:?} stands there twice; remove one"));
        } else {
            list.push(text);
        }
    }
    (list.len() == array.len()).then_some(list)
}

/// A [`list`] with at least one element.
pub fn some_of<'t>(
    value: &Value<'t>,
    faults: &mut Faults,
    read: impl FnMut(&Value<'t>, &mut Faults) -> Option<String>,
) -> Option<Vec<String>> {
    let list = list(value, faults, read)?;
    if list.is_empty() {
        faults.add(value.span().start, "the list is empty; name at least one, or leave the key out");
        return None;
    }
    Some(list)
}

/// In the order of the alphabet: for lists that have none of their own.
pub fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort_unstable();
    list
}

/// Names and values of headers. Names are told apart as HTTP does, in any case.
pub fn headers(value: &Value<'_>, faults: &mut Faults) -> Option<BTreeMap<String, String>> {
    let Some(table) = value.get_ref().as_table() else {
        mistyped(value, faults, "a table, such as { \"X-Service-Token\" = \"${ORDERS_TOKEN}\" }");
        return None;
    };
    let mut seen = BTreeSet::new();
    let mut headers = BTreeMap::new();
    for (name, value) in table {
        let text = name.get_ref().as_ref();
        let named = rules::header_name(text).and_then(|()| match seen.insert(text.to_ascii_lowercase()) {
            true => Ok(()),
            false => Err(format!("{text:?} stands there twice in different cases; remove one")),
        });
        if let Err(wrong) = &named {
            faults.add(name.span().start, wrong);
        }
        let rule = |value: &str| {
            rules::header_value(value).map_err(|wrong| format!("the value of {text:?} {wrong}"))
        };
        if let (Ok(()), Some(value)) = (named, ruled(rule)(value, faults)) {
            headers.insert(text.to_owned(), value);
        }
    }
    (headers.len() == table.len()).then_some(headers)
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    let integer = value.as_integer()?;
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn mistyped(value: &Value<'_>, faults: &mut Faults, wanted: &str) {
    let found = match value.get_ref() {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        other => format!("of type {}", other.type_str()),
    };
    faults.add(value.span().start, format!("is {found}; write {wanted}"));
}
