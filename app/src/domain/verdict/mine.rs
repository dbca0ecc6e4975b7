//! Mine: a partner's own refusals, and what to do about them.

use time::Duration;

use super::about::Actor;
use super::evidence::Evidence;
use super::sentence::Sentence;
use super::words::{count, grouped, wait};
use super::{Found, Rule, Tone, link};

/// Fewer early retries are a slip.
const LEAST_EARLY: u64 = 10;
/// Per cent of the refusals below which early retries are not what matters.
const MATTERS: u64 = 20;
/// Fewer refusals need no explanation.
const LEAST_REFUSED: u64 = 20;

pub fn judge(evidence: &Evidence) -> Vec<Found> {
    let now = evidence.all.now;
    let refusals = now.early + now.spent;
    let retries = !now.was_failed() && evidence.habit.is_none_or(|habit| habit.is_hasty());
    let matters = now.early >= LEAST_EARLY && now.early * 100 >= refusals * MATTERS;
    let over = over(evidence);
    let (tone, sentence, outcome) = if matters && retries {
        let tone = if over.is_some() { Tone::Notice } else { Tone::Alarm };
        (tone, too_early(evidence, now.early, refusals), Some("quota_early_retry"))
    } else if refusals >= LEAST_REFUSED {
        let advice = if over.is_none() { mend(evidence) } else { "" };
        (Tone::Notice, spent(evidence, refusals).say(advice), None)
    } else {
        return Vec::new();
    };
    let actor = over.as_ref().map(|_| Actor::Nobody);
    let sentence = match over {
        Some(over) => sentence.say(over),
        None => sentence,
    };
    let filters = [("stage", "quota")].into_iter().chain(outcome.map(|outcome| ("outcome", outcome)));
    let href = link::requests(evidence, &filters.collect::<Vec<_>>());
    vec![Found::new(Rule::Mine, tone, refusals, sentence, href).acted_by(actor)]
}

/// Why nobody need do anything about it any more: it is a while ago, or the plan is another since.
fn over(evidence: &Evidence) -> Option<String> {
    let last = evidence.all.now.last_refused?;
    if evidence.is_past(last) {
        return Some(format!(" None since {}.", evidence.minute(last)));
    }
    let its = if evidence.about.is_some() { "Its" } else { "Your" };
    // It is known by the minute when the last was refused.
    let is_changed = evidence.plan_changed.is_some_and(|changed| changed > last - Duration::MINUTE);
    is_changed.then(|| format!(" {its} plan has changed since."))
}

/// "412 of your 530 refusals were retries sent too early: you waited 80 ms, we asked for 9 s."
fn too_early(evidence: &Evidence, early: u64, refusals: u64) -> Sentence {
    let now = evidence.all.now;
    let are_all = now.arrived == now.reached + now.cached + refusals;
    let sentence = Sentence::new().number(grouped(early)).say(format!(
        " of {} {} refusals{} were retries sent too early",
        evidence.your(),
        grouped(refusals),
        if are_all { "" } else { " for quota" }
    ));
    let is_told = evidence.about.is_none();
    match evidence.habit {
        Some(habit) if habit.is_crowd => {
            sentence.say(", several at a time; we asked for a wait of ").number(wait(habit.asked_ms)).say(".")
        }
        Some(habit) if habit.waited_ms < habit.asked_ms => sentence
            .say(if is_told { ": you waited " } else { ": it waited " })
            .number(wait(habit.waited_ms))
            .say(", we asked for ")
            .number(wait(habit.asked_ms))
            .say("."),
        // The log reaches less far back than the rollups.
        _ => {
            let wait = if is_told { ": wait as long as " } else { ": it is to wait as long as " };
            sentence.say(wait).name("Retry-After").say(" says.")
        }
    }
}

/// Waiting is no cure for first attempts, a larger plan is.
fn mend(evidence: &Evidence) -> &'static str {
    match evidence.about {
        None => " Spread them out, or ask for a larger plan.",
        Some(_) => " It spreads them out, or gets a larger plan from you.",
    }
}

/// First attempts beyond the quota.
fn spent(evidence: &Evidence, refusals: u64) -> Sentence {
    let (arrived, early) = (count(evidence.all.now.arrived, "request"), evidence.all.now.early);
    let its = if evidence.about.is_some() { "its" } else { "your" };
    let sentence = Sentence::new()
        .number(grouped(refusals))
        .say(format!(" of {} {arrived} went beyond {its} quota", evidence.your()));
    match early {
        0 => sentence.say("; none of them was a retry sent too early."),
        // Several programs may share a key, and each wait as it is told.
        _ => sentence
            .say(format!("; {} of them came before the ", grouped(early)))
            .name("Retry-After")
            .say(" of the key’s last refusal was over."),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::domain::verdict::evidence::{Compared, Habit, Tally, Who};
    use crate::domain::verdict::examples::{hour, texts};
    use crate::domain::verdict::verdicts;

    fn of(early: u64, spent: u64, habit: Option<Habit>) -> Evidence {
        let now = Tally { arrived: early + spent + 60, early, spent, reached: 60, ..Tally::default() };
        Evidence { who: Who::Partner(1), all: Compared { now, ..Compared::default() }, habit, ..hour() }
    }

    const HASTY: Option<Habit> = Some(Habit { repeated: 200, ..crate::domain::verdict::examples::HASTY });

    #[test]
    fn a_partner_reads_how_long_it_waited_and_how_long_it_should_have() {
        let verdict = verdicts(&of(412, 118, HASTY)).remove(0);
        assert_eq!(
            verdict.text(),
            "412 of your 530 refusals were retries sent too early: you waited 80 ms, we asked for 9 s."
        );
        assert_eq!(
            verdict.href,
            "/portal/requests?from=2026-01-01T14:00Z&to=2026-01-01T15:00Z&stage=quota&outcome=quota_early_retry"
        );
    }

    #[test]
    fn where_others_refused_too_the_quotas_refusals_are_called_so() {
        let mut evidence = of(412, 118, HASTY);
        evidence.all.now.held = 7;
        evidence.all.now.arrived += 7;
        let said = texts(&evidence).remove(0);
        assert!(
            said.starts_with("412 of your 530 refusals for quota were retries sent too early: "),
            "{said}"
        );
    }

    #[test]
    fn without_the_log_the_advice_remains() {
        assert_eq!(
            texts(&of(412, 118, None)),
            ["412 of your 530 refusals were retries sent too early: wait as long as `Retry-After` says."]
        );
    }

    #[test]
    fn from_ten_early_retries_and_a_fifth_of_the_refusals_on_they_matter() {
        assert!(texts(&of(9, 0, HASTY)).is_empty());
        assert!(texts(&of(10, 40, HASTY))[0].starts_with("10 of your 50 refusals were retries"));
        assert_eq!(
            texts(&of(10, 41, HASTY)),
            [
                "51 of your 111 requests went beyond your quota; 10 of them came before the `Retry-After` of the key’s last refusal was over. Spread them out, or ask for a larger plan."
            ]
        );
    }

    #[test]
    fn what_is_over_is_said_to_be_and_asks_nothing_of_anybody() {
        // It is 14:50:30.
        let over = |early, spent| {
            let mut evidence = of(early, spent, HASTY);
            evidence.all.now.last_refused = Some(datetime!(2026-01-01 14:33 UTC));
            verdicts(&evidence).remove(0)
        };
        let looped = over(412, 118);
        assert_eq!(looped.tone, Tone::Notice);
        assert!(looped.text().ends_with("we asked for 9 s. None since 14:33."), "{}", looped.text());
        assert_eq!(
            over(0, 20).text(),
            "20 of your 80 requests went beyond your quota; none of them was a retry sent too early. None since 14:33."
        );
    }

    #[test]
    fn who_has_another_plan_since_is_not_asked_to_get_one() {
        // The last was refused at some time of the minute before.
        let said = |plan_changed| {
            let mut evidence = Evidence { plan_changed, ..of(0, 20, None) };
            evidence.all.now.last_refused = Some(datetime!(2026-01-01 14:50 UTC));
            texts(&evidence).remove(0)
        };
        let spent = "20 of your 80 requests went beyond your quota; none of them was a retry sent too early.";
        let asked = format!("{spent} Spread them out, or ask for a larger plan.");
        assert_eq!(said(None), asked);
        assert_eq!(said(Some(datetime!(2026-01-01 14:49 UTC))), asked);
        assert_eq!(
            said(Some(datetime!(2026-01-01 14:49:01 UTC))),
            format!("{spent} Your plan has changed since.")
        );
    }

    #[test]
    fn a_job_that_goes_on_with_the_next_item_has_too_small_a_plan() {
        let job = HASTY.map(|habit| Habit { repeated: 0, ..habit });
        assert_eq!(
            texts(&of(412, 118, job)),
            [
                "530 of your 590 requests went beyond your quota; 412 of them came before the `Retry-After` of the key’s last refusal was over. Spread them out, or ask for a larger plan."
            ]
        );
    }

    #[test]
    fn first_attempts_beyond_the_quota_are_called_nothing_else() {
        assert!(texts(&of(0, 19, None)).is_empty());
        assert_eq!(
            texts(&of(0, 20, None)),
            [
                "20 of your 80 requests went beyond your quota; none of them was a retry sent too early. Spread them out, or ask for a larger plan."
            ]
        );
    }
}
