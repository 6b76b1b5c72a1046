//! Long answers in parts.

/// Room for closing and reopening a code fence between two parts, and for the part's number.
const FENCE_RESERVE_CHARS: usize = 32;

/// Cuts a text that is ready for Slack into parts of at most so many characters: between paragraphs, else lines, else
/// words. Code that is cut is closed and opened again. Several parts are numbered.
pub fn parts(text: &str, limit: usize) -> Vec<String> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.chars().count() <= limit {
        return vec![text.to_owned()];
    }
    let most = limit.saturating_sub(FENCE_RESERVE_CHARS).max(1);
    let (mut parts, mut rest, mut fenced) = (Vec::new(), text, false);
    while !rest.is_empty() {
        let (part, behind) = rest.split_at_checked(end(rest, most)).unwrap_or((rest, ""));
        let opens = if fenced { "```\n" } else { "" };
        let fences = part.lines().filter(|line| line.trim_start() == "```").count();
        fenced ^= fences % 2 == 1;
        let closes = if fenced { "\n```" } else { "" };
        let part = part.trim_end();
        if !part.is_empty() {
            parts.push(format!("{opens}{part}{closes}"));
        }
        // The indent of code that goes on is kept.
        rest = behind.trim_start_matches('\n');
        if !fenced {
            rest = rest.trim_start();
        }
    }
    let many = parts.len();
    let number = |(at, part): (usize, String)| format!("({}/{many})\n{part}", at + 1);
    parts.into_iter().enumerate().map(number).collect()
}

/// Where a part ends.
fn end(text: &str, most: usize) -> usize {
    let Some((hard, _)) = text.char_indices().nth(most) else { return text.len() };
    let Some(head) = text.get(..hard) else { return text.len() };
    let half = hard / 2;
    let late = |at: &usize| *at > half;
    let soft = head
        .rfind("\n\n")
        .filter(late)
        .or_else(|| head.rfind('\n').filter(late))
        .or_else(|| head.rfind(char::is_whitespace).filter(|at| *at > 0));
    soft.unwrap_or_else(|| {
        // An escaped sign is not cut in two.
        let open = head.rfind('&').filter(|at| *at > 0 && hard - at < 5);
        open.filter(|at| !head.get(*at..).is_some_and(|tail| tail.contains(';'))).unwrap_or(hard)
    })
}
