//! A number against the same number of before, in words.

use super::numbers::grouped;

/// By how much it grew or shrank: "+1,204", "−3", "±0".
pub fn difference(now: u64, before: u64) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Greater => format!("+{}", grouped(now - before)),
        std::cmp::Ordering::Less => format!("−{}", grouped(before - now)),
        std::cmp::Ordering::Equal => "±0".into(),
    }
}

/// The same in per cent of before: "+12 %", "−0.4 %", "×6.2" from threefold on; where there was nothing, "new".
pub fn relative(now: u64, before: u64) -> String {
    if before == 0 {
        return if now == 0 { String::new() } else { "new".into() };
    }
    let ratio = now as f64 / before as f64;
    let share = (ratio - 1.0) * 100.0;
    match share {
        _ if now == before => String::new(),
        _ if ratio >= 1_000.0 => format!("×{}", grouped(ratio.round() as u64)),
        _ if ratio >= 3.0 => format!("×{ratio:.1}"),
        share if share.abs() < 0.1 => format!("{}< 0.1 %", sign(share)),
        share if share.abs() < 10.0 => format!("{}{:.1} %", sign(share), share.abs()),
        share => format!("{}{:.0} %", sign(share), share.abs()),
    }
}

fn sign(share: f64) -> &'static str {
    if share < 0.0 { "−" } else { "+" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_its_sign_and_its_share_of_before() {
        let told = |now, before| format!("{} {}", difference(now, before), relative(now, before));
        assert_eq!(told(6_200, 1_000), "+5,200 ×6.2");
        assert_eq!(told(1_120, 1_000), "+120 +12 %");
        assert_eq!(told(996, 1_000), "−4 −0.4 %");
        assert_eq!(told(0, 1_000), "−1,000 −100 %");
        assert_eq!(told(1_000_001, 1_000_000), "+1 +< 0.1 %");
        assert_eq!(told(999_999, 1_000_000), "−1 −< 0.1 %");
    }

    #[test]
    fn where_there_was_nothing_there_is_no_share() {
        assert_eq!((difference(7, 0), relative(7, 0)), ("+7".into(), "new".into()));
        assert_eq!((difference(7, 7), relative(7, 7)), ("±0".into(), String::new()));
        assert_eq!(relative(0, 0), "");
    }
}
