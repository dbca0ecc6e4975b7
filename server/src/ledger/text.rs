//! What clients wrote, made fit to be kept: cut to a length, and without anything that looks like a key.

use super::record::Record;

const METHOD: usize = 32;
const PATH: usize = 1_024;
const REQUEST_ID: usize = 128;
const ADDRESS: usize = 64;
const USER_AGENT: usize = 200;
const TARGET: usize = 200;

const PREFIX: &str = "toll_";
/// Characters of a key after its prefix.
const SECRET: usize = app::domain::key_text::LENGTH - PREFIX.len();
const MASK: &str = "**************************************";

/// The only place where a record's text is cut. Afterwards the record fits [`super::segment::MAX_RECORD`].
pub fn tidy(record: &mut Record) {
    // Masked first: a cut could leave the better part of a key.
    for text in [&mut record.path, &mut record.request_id, &mut record.user_agent] {
        mask_keys(text);
    }
    for text in [&mut record.method, &mut record.path, &mut record.request_id, &mut record.user_agent] {
        // PostgreSQL takes any character but this one, and a batch that it refuses would hold up all that follow.
        if text.contains('\0') {
            text.retain(|character| character != '\0');
        }
    }
    cut(&mut record.method, METHOD);
    cut(&mut record.path, PATH);
    cut(&mut record.request_id, REQUEST_ID);
    cut(&mut record.address, ADDRESS);
    cut(&mut record.user_agent, USER_AGENT);
    cut(&mut record.target, TARGET);
}

fn cut(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let end = (0..=bytes).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
}

fn mask_keys(text: &mut String) {
    let mut from = 0;
    while let Some(found) = text[from..].find(PREFIX) {
        let secret = from + found + PREFIX.len();
        let looks_like = text.as_bytes().get(secret..secret + SECRET);
        if looks_like.is_some_and(|bytes| bytes.iter().all(u8::is_ascii_alphanumeric)) {
            text.replace_range(secret..secret + SECRET, MASK);
        }
        from = secret;
    }
}

#[cfg(test)]
mod tests {
    use app::domain::cache_miss::CacheMiss;
    use app::domain::outcome::Outcome;
    use app::domain::stage::Stage;
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;
    use crate::ledger::record::End;
    use crate::ledger::segment::MAX_RECORD;

    #[test]
    fn a_key_in_a_path_is_masked_and_its_surroundings_are_kept() {
        let key = app::domain::key_text::key_from([7; 32]);
        let mut path = format!("/a/{key}/toll_booth/x{key}");
        mask_keys(&mut path);
        assert_eq!(path, format!("/a/toll_{MASK}/toll_booth/xtoll_{MASK}"));
        assert_eq!(MASK.len(), SECRET);
    }

    #[test]
    fn a_key_that_the_cut_would_halve_is_masked_too() {
        let mut record = Record::new(Uuid::nil(), 0);
        record.path = format!("{}{}", "/".repeat(PATH - 30), app::domain::key_text::key_from([7; 32]));
        tidy(&mut record);
        assert_eq!(record.path.len(), PATH);
        assert!(record.path.ends_with("/toll_*************************"));
    }

    #[test]
    fn a_record_of_the_longest_text_and_the_largest_numbers_fits() {
        let long = || "ä".repeat(4_000);
        let mut record = Record {
            end: Some(End {
                stage: Stage::Proxy,
                outcome: Outcome::UpstreamUnreachable,
                status: u16::MAX,
                reached: true,
                upstream_status: u16::MAX,
            }),
            route: i64::MIN,
            partner: i64::MIN,
            key: i64::MIN,
            method: long(),
            path: long(),
            request_id: long(),
            address: long(),
            user_agent: long(),
            target: long(),
            bytes_in: u64::MAX,
            bytes_out: u64::MAX,
            duration_us: u64::MAX,
            stage_us: [u64::MAX; 6],
            tokens_before: Some(f64::MAX),
            tokens_after: Some(f64::MAX),
            retry_asked_ms: Some(i64::MIN),
            retry_waited_ms: Some(i64::MIN),
            cache_miss: Some(CacheMiss::Stale),
            metered_locally: true,
            upstream_calls: u16::MAX,
            timed: true,
            same_again: true,
            ..Record::new(Uuid::max(), i64::MIN)
        };
        tidy(&mut record);
        let bytes = postcard::to_stdvec(&record).expect("encodes").len();
        assert!(bytes + 64 <= MAX_RECORD, "{bytes}");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_at_a_character(text in "\\PC{0,300}", bytes in 0usize..200) {
            let mut short = text.clone();
            cut(&mut short, bytes);
            prop_assert!(text.starts_with(&short));
            prop_assert!(short.len() <= bytes);
            prop_assert!(short.len() + 3 >= bytes.min(text.len()));
        }
    }
}
