//! Names that an origin gives its answers, for purging by them.

use http::HeaderMap;

/// Tags of one answer that are kept.
const MOST: usize = 1_000;

/// Of `Cache-Tag` (separated by commas) and `Surrogate-Key` (by blank space), in lower case.
pub fn of(headers: &HeaderMap) -> Box<[Box<str>]> {
    let texts =
        |name| headers.get_all(name).iter().filter_map(|value: &http::HeaderValue| value.to_str().ok());
    let by_comma = texts("cache-tag").flat_map(|text| text.split(','));
    let by_space = texts("surrogate-key").flat_map(str::split_ascii_whitespace);
    let tags = by_comma.chain(by_space).map(str::trim).filter(|tag| !tag.is_empty());
    tags.take(MOST).map(|tag| tag.to_ascii_lowercase().into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fields_are_read_on_all_their_lines() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("cache-tag", "Order-7, blue sky"), ("cache-tag", "x,"), ("surrogate-key", "a  b")]
        {
            headers.append(name, value.parse().expect("a value"));
        }
        assert_eq!(of(&headers).join("|"), "order-7|blue sky|x|a|b");
    }
}
