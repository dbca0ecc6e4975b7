//! The text of an API key: `toll_`, 32 random base62 characters, 6 characters of checksum.
//!
//! A key is judged by shape and checksum before anything is looked up, so that a typo costs no database round trip.

/// Digits of base62, in the order of their values.
pub const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const PREFIX: &str = "toll_";
const RANDOM: usize = 32;
const CHECKSUM: usize = 6;

/// Characters of a whole key.
pub const LENGTH: usize = PREFIX.len() + RANDOM + CHECKSUM;

/// Characters that a screen may show: enough to tell keys apart, useless to call with.
pub const START: usize = 10;

/// The key made of 32 numbers below 62 (larger ones are taken modulo 62).
pub fn key_from(random: [u8; RANDOM]) -> String {
    let mut key = String::with_capacity(LENGTH);
    key.push_str(PREFIX);
    key.extend(random.iter().map(|n| ALPHABET[usize::from(n % 62)] as char));
    let checksum = checksum(&key);
    key.push_str(&checksum);
    key
}

/// Whether `key` has the shape of a key and its checksum is right.
pub fn is_well_formed(key: &str) -> bool {
    key.len() == LENGTH
        && key.starts_with(PREFIX)
        && key.as_bytes()[PREFIX.len()..].iter().all(u8::is_ascii_alphanumeric)
        && key[LENGTH - CHECKSUM..] == checksum(&key[..LENGTH - CHECKSUM])
}

/// The first characters, for screens.
pub fn start_of(key: &str) -> &str {
    key.get(..START).unwrap_or(key)
}

/// CRC-32 (IEEE) in base62, left-padded with `0` to six characters (62⁶ > 2³²).
fn checksum(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    digits.iter().map(|d| *d as char).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_whose_checksum_was_computed_elsewhere_is_well_formed() {
        // The checksum is zlib's CRC-32 of the 37 characters before it, in base62.
        assert_eq!(key_from([0; 32]), "toll_0000000000000000000000000000000020nV4p");
        assert!(is_well_formed("toll_0000000000000000000000000000000020nV4p"));
    }

    proptest! {
        #[test]
        fn every_key_that_is_made_is_well_formed(random: [u8; 32]) {
            let key = key_from(random);
            prop_assert_eq!(key.len(), 43);
            prop_assert!(is_well_formed(&key));
        }

        #[test]
        fn one_changed_character_breaks_a_key(random: [u8; 32], at in 5usize..43, by in 1usize..62) {
            let key = key_from(random);
            let mut bytes = key.into_bytes();
            let value = ALPHABET.iter().position(|c| *c == bytes[at]).expect("base62");
            bytes[at] = ALPHABET[(value + by) % 62];
            prop_assert!(!is_well_formed(std::str::from_utf8(&bytes).expect("ascii")));
        }

        #[test]
        fn any_text_is_judged_without_a_panic(text in ".{0,60}") {
            is_well_formed(&text);
            start_of(&text);
        }
    }
}
