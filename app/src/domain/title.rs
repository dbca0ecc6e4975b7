//! What people and keys are called: free text, in one line that reads as it is written.

/// 1 to 100 characters and not all blank, without controls and line breaks, and without characters that hide themselves or turn
/// around what stands beside them.
pub fn fits(text: &str) -> bool {
    (1..=100).contains(&text.chars().count()) && !text.trim().is_empty() && !text.chars().any(misleads)
}

fn misleads(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200B}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_name_is_one_line_that_reads_as_it_is_written() {
        for good in ["A", "Émile & Söhne", "\u{5e2}\u{5d1}\u{5e8}\u{5d9}\u{5ea}", &"x".repeat(100)] {
            assert!(fits(good), "{good:?}");
        }
        for bad in [
            "",
            " ",
            "a\nb",
            "a\u{2028}b",
            "a\u{202E}b",
            "a\u{200B}b",
            "\u{2066}a",
            "\u{FEFF}a",
            &"x".repeat(101),
        ] {
            assert!(!fits(bad), "{bad:?}");
        }
    }
}
