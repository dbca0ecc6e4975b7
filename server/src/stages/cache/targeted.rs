//! Targeted cache control (RFC 9213): fields that speak to this cache alone, as structured dictionaries.

use http::header::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, ListEntry, Parser, Version};

use super::list::{Directive, Directives, LIFETIMES};

/// For Toll only; not passed on.
pub const TOLL_CACHE_CONTROL: HeaderName = HeaderName::from_static("toll-cache-control");
/// For all caches that an origin has hired.
const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");

/// Of the most specific field that is there, can be read and says anything (§2.2): then `Cache-Control` and `Expires`
/// do not count.
pub fn directives(headers: &HeaderMap) -> Option<Directives> {
    [TOLL_CACHE_CONTROL, CDN_CACHE_CONTROL].iter().find_map(|field| read(headers, field))
}

fn read(headers: &HeaderMap, field: &HeaderName) -> Option<Directives> {
    if !headers.contains_key(field) {
        return None;
    }
    let lines: Vec<&[u8]> = headers.get_all(field).iter().map(http::HeaderValue::as_bytes).collect();
    let whole = lines.join(&b", "[..]);
    let dictionary: Dictionary = Parser::new(&whole).with_version(Version::Rfc8941).parse().ok()?;
    let said = !dictionary.is_empty();
    let all = dictionary.iter().filter_map(|(name, entry)| directive(name.as_str(), entry)).collect();
    said.then_some(Directives(all))
}

/// A value of another type than the directive takes is ignored (§2.1).
fn directive(name: &str, entry: &ListEntry) -> Option<Directive> {
    let ListEntry::Item(item) = entry else { return None };
    let takes_seconds = LIFETIMES.contains(&name);
    let argument = match &item.bare_item {
        BareItem::Integer(number) if takes_seconds => Some(i64::from(*number).to_string()),
        _ if takes_seconds => return None,
        BareItem::Boolean(true) => None,
        BareItem::Boolean(false) => return None,
        BareItem::String(fields) => Some(fields.as_str().to_owned()),
        BareItem::Token(field) => Some(field.as_str().to_owned()),
        _ => return None,
    };
    Some(Directive { name: name.to_owned(), argument, is_well_formed: true })
}

#[cfg(test)]
mod tests {
    use super::super::directives::ResponseDirectives;
    use super::*;
    use crate::clock::Micros;

    fn read(pairs: &[(&'static str, &'static str)]) -> ResponseDirectives {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().expect("a value"));
        }
        ResponseDirectives::of(&headers)
    }

    fn lifetime(pairs: &[(&'static str, &'static str)]) -> Option<Micros> {
        read(pairs).max_age.map(|age| age / 1_000_000)
    }

    const PLAIN: (&str, &str) = ("cache-control", "max-age=1, no-store");

    #[test]
    fn the_most_specific_field_that_can_be_read_counts_alone() {
        let toll = ("toll-cache-control", "max-age=9");
        let cdn = ("cdn-cache-control", "max-age=5");
        assert_eq!(lifetime(&[PLAIN, cdn, toll]), Some(9));
        assert_eq!(lifetime(&[PLAIN, cdn]), Some(5));
        assert!(!read(&[PLAIN, cdn]).no_store);
        for unreadable in ["max-age=9, &&&", "MAX-age=9", "max-age =9", "max-age= 9", "", "max-age=9,"] {
            assert_eq!(lifetime(&[PLAIN, ("cdn-cache-control", unreadable)]), Some(1), "{unreadable}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_is_ignored_and_several_lines_are_one_dictionary() {
        assert_eq!(lifetime(&[PLAIN, ("cdn-cache-control", "max-age=\"9\"")]), None);
        assert_eq!(lifetime(&[PLAIN, ("cdn-cache-control", "max-age=-9")]), Some(0));
        let split = [("cdn-cache-control", "max-age=9"), ("cdn-cache-control", "no-cache, private=?0")];
        let both = read(&split);
        assert!(both.no_cache.is_whole() && !both.private.is_whole());
        assert_eq!(both.max_age, Some(9_000_000));
        assert_eq!(read(&[("cdn-cache-control", "no-cache=\"a, b\"")]).no_cache.fields().len(), 2);
    }
}
