//! The form in which e-mail addresses are kept.

/// Trimmed and in lower case; `None` if it is no address. Says nothing about whether it can be reached.
pub fn normal_email(text: &str) -> Option<String> {
    let email = text.trim().to_ascii_lowercase();
    let (local, domain) = email.rsplit_once('@')?;
    let is_plain = email.bytes().all(|byte| byte.is_ascii_graphic()) && email.len() <= 254;
    // An "@" in quotes before the last one is lawful, and nobody has one.
    (is_plain && !local.is_empty() && !local.contains('@') && !domain.is_empty()).then_some(email)
}

#[cfg(test)]
mod tests {
    use super::normal_email;

    #[test]
    fn an_address_is_kept_in_lower_case_and_what_is_none_is_refused() {
        assert_eq!(normal_email(" Ada@Example.COM "), Some("ada@example.com".into()));
        for bad in
            ["", "ada", "@example.com", "ada@", "a da@example.com", "ada@exämple.com", "a\n@b", "a@b@c"]
        {
            assert_eq!(normal_email(bad), None, "{bad:?}");
        }
    }
}
