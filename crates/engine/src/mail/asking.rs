//! Finds the question in a mail's text. Agents need no form for it.

use wire::mail::OfferView;

/// Maximum number of offered answers: each is a key.
const MAX_OFFERS: u32 = 9;
/// Characters of an offered answer shown.
const MAX_OFFER_CHARS: usize = 1000;

/// The subjects of mails that Adjutant writes about failures.
const ALERTS: [&str; 8] = [
    "⚠️",
    "Tool Failure: ",
    "Merge Held: ",
    "Merge Conflict: ",
    "Check Failed: ",
    "Not Merged: ",
    "Supervisor sp_",
    "Plan Stopped: ",
];

/// True for Adjutant's own alert mails.
pub(crate) fn is_alert(subject: &str) -> bool {
    ALERTS.iter().any(|alert| subject.starts_with(alert))
}

/// True if a mail asks something: its subject or a line ends like a question.
pub(crate) fn is_question(subject: &str, body: &str) -> bool {
    let asks = |line: &str| line.trim_end_matches(['"', '*', '_', ')', ' ']).ends_with('?');
    asks(subject.trim_end()) || prose(body).any(|line| asks(line.trim_end()))
}

/// The lines of a mail that are its own: no quotations and no code.
fn prose(body: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    body.lines().filter(move |line| {
        let line = line.trim_start();
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        !fenced && !fence && !line.starts_with('>')
    })
}

/// The answers that a mail offers: the last of its lists that is numbered from 1 on. A list that jumps, or has more
/// than there are keys, offers nothing.
pub(crate) fn offers(body: &str) -> Vec<OfferView> {
    let mut run: Vec<OfferView> = Vec::new();
    for (number, text) in prose(body).filter_map(numbered) {
        if number == 1 {
            run.clear();
        }
        let next = u32::try_from(run.len()).unwrap_or(MAX_OFFERS) + 1;
        if number == next && number <= MAX_OFFERS {
            run.push(offer(number, text));
        } else {
            run.clear();
        }
    }
    if run.len() > 1 { run } else { Vec::new() }
}

fn offer(number: u32, text: &str) -> OfferView {
    let text: String = text.chars().take(MAX_OFFER_CHARS).collect();
    OfferView { number, reply: format!("{number}. {text}"), text }
}

/// The number and the text of a line such as `2. that one` or `**2)** that one`.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let line = line.trim().trim_start_matches("**");
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = line.split_at_checked(end)?;
    let rest = rest.strip_prefix(['.', ')'])?;
    let text = rest.strip_prefix("**").unwrap_or(rest);
    let text = text.strip_prefix([' ', '\t'])?.trim();
    // More digits than two are a year, or nothing that a key can take.
    let number = digits.parse().ok().filter(|_| digits.len() <= 2)?;
    (!text.is_empty()).then_some((number, text))
}

/// The answers to a question for leave to use a tool. `always` covers the calls of the question's pattern.
pub(crate) fn leave(pattern: Option<&str>) -> Vec<OfferView> {
    let answer = |number, text: &str, reply: &str| OfferView {
        number,
        text: text.to_owned(),
        reply: reply.to_owned(),
    };
    let mut answers = vec![answer(1, "Allow", "allow"), answer(2, "Deny", "deny")];
    let always =
        |pattern: &str| answer(3, &format!("Always allow {pattern} in this run"), "always");
    answers.extend(pattern.map(always));
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(body: &str) -> Vec<String> {
        offers(body).into_iter().map(|offer| offer.text).collect()
    }

    #[test]
    fn a_subject_or_a_line_that_ends_like_a_question_asks() {
        assert!(is_question("Which one?", "b"));
        assert!(is_question("Locks", "I found two.\nMay I take the *first?*\nIt is simpler."));
        assert!(!is_question("Locks", "It works."));
        assert!(!is_question("Locks", "> may I?\n\nYes.\n\n```\nwhat?\n```"), "others' words");
    }

    #[test]
    fn the_last_numbered_lines_are_offered() {
        let body = "What I found:\n1. a\n2. b\n\nNow choose?\n1. Hash of the path: two never meet\n\
             2) One fixed number\n**3.** Neither\n\nI wait.";
        let offered = ["Hash of the path: two never meet", "One fixed number", "Neither"];
        assert_eq!(texts(body), offered);
        assert_eq!(offers(body)[1].reply, "2. One fixed number");
    }

    #[test]
    fn what_is_no_choice_offers_nothing() {
        let ten = (1..=10).map(|n| format!("{n}. line")).collect::<Vec<_>>().join("\n");
        let cases =
            ["", "1. only one", "2. begins late\n3. goes on", "1. a\n3. jumps", ten.as_str()];
        for body in cases.into_iter().chain(["```\n1. code\n2. code\n```", "1.no space\n2.none"]) {
            assert_eq!(texts(body), Vec::<String>::new(), "{body}");
        }
        assert_eq!(
            texts("1. a\n   and more of it\n2. b"),
            ["a", "b"],
            "lines between do not matter"
        );
    }

    #[test]
    fn a_long_answer_is_cut_between_characters() {
        let long = "ü".repeat(5000);
        let offered = offers(&format!("Which?\n1. {long}\n2. b"));
        assert_eq!(offered[0].text.chars().count(), MAX_OFFER_CHARS);
    }
}
