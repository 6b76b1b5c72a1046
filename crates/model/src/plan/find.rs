//! Where the steps of a plan stand: its headings, or the items of its list.

use super::{MAX_TITLE_CHARS, PlanError, StepHeading};
use crate::markdown::{Line, is_done};

/// An item's first line is its title, so far.
const MAX_ITEM_CHARS: usize = 120;

/// The steps, and the rank of their headings where they have some.
pub(super) fn steps(lines: &[Line<'_>]) -> Result<(Vec<StepHeading>, Option<usize>), PlanError> {
    let headings = lines.iter().filter_map(|line| line.heading);
    let rank = headings.filter(|(_, says)| numbered(says).is_some()).map(|(rank, _)| rank).min();
    let found = match rank {
        Some(rank) => by_headings(lines, rank)?,
        None => by_items(lines)?,
    };
    Ok((found, rank))
}

/// The sections below headings of a rank that name steps. A heading of that rank or above ends a step.
fn by_headings(lines: &[Line<'_>], rank: usize) -> Result<Vec<StepHeading>, PlanError> {
    let mut found: Vec<StepHeading> = Vec::new();
    let mut is_open = false;
    for (index, line) in lines.iter().enumerate() {
        let Some((own, says)) = line.heading.filter(|(own, _)| *own <= rank) else { continue };
        if let Some(last) = found.last_mut().filter(|_| is_open) {
            last.lines.1 = index;
        }
        is_open = false;
        let Some((number, title)) = numbered(says).filter(|_| own == rank) else {
            if own == rank && looks_like_a_step(says) {
                let problem = format!("`{says}` needs a number, such as `Step 3: Title`");
                return Err(PlanError::at(index + 1, problem));
            }
            continue;
        };
        if title.chars().count() > MAX_TITLE_CHARS {
            let problem = format!("the title is longer than {MAX_TITLE_CHARS} characters");
            return Err(PlanError::at(index + 1, problem));
        }
        if let Some(last) = found.last().filter(|last| last.number >= number) {
            let (before, line) = (last.number, last.first + 1);
            let problem = format!("step {number} follows step {before} (line {line})");
            return Err(PlanError::at(index + 1, format!("{problem}: number them in their order")));
        }
        is_open = true;
        let lines = (index + 1, lines.len());
        found.push(StepHeading { number, title, is_done: is_done(says), first: index, lines });
    }
    Ok(found)
}

/// A heading that was meant to be a step.
fn looks_like_a_step(says: &str) -> bool {
    let (_, bare) = unboxed(says);
    after_word(bare, "step").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The items of a list at the left edge: of a numbered one, else of one with boxes.
fn by_items(lines: &[Line<'_>]) -> Result<Vec<StepHeading>, PlanError> {
    let items: Vec<(usize, Item<'_>)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_code)
        .filter_map(|(index, line)| Some((index, item(line.text)?)))
        .collect();
    let is_numbered = items.iter().any(|(_, item)| item.number.is_some());
    let items: Vec<(usize, Item<'_>)> = items
        .into_iter()
        .filter(
            |(_, item)| if is_numbered { item.number.is_some() } else { item.is_done.is_some() },
        )
        .collect();
    let mut found = Vec::new();
    let mut before = 0;
    for (number, (place, (index, item))) in (1_u32..).zip(items.iter().enumerate()) {
        let written = item.number.unwrap_or(number);
        if written <= 1 && before > 1 {
            let problem =
                "a second list begins: steps are one list, or headings such as `## Step 3: Title`";
            return Err(PlanError::at(index + 1, problem));
        }
        before = written;
        let title = clean(item.says);
        if title.is_empty() {
            return Err(PlanError::at(index + 1, "the step is empty"));
        }
        let next = items.get(place + 1).map_or(lines.len(), |(next, _)| *next);
        found.push(StepHeading {
            number,
            title: cut(&title),
            is_done: item.is_done == Some(true) || is_done(item.says),
            first: *index,
            lines: (*index, end_of_item(lines, *index, next)),
        });
    }
    Ok(found)
}

/// Where an item ends: at the next one, at a heading, or at a paragraph at the left edge.
fn end_of_item(lines: &[Line<'_>], first: usize, next: usize) -> usize {
    let mut was_blank = false;
    for (index, line) in lines.iter().enumerate().take(next).skip(first + 1) {
        let is_blank = line.text.trim().is_empty();
        let at_edge = !is_blank && !line.text.starts_with([' ', '\t']);
        if line.heading.is_some() || (was_blank && at_edge && !line.is_code) {
            return index;
        }
        was_blank = is_blank;
    }
    next
}

/// A line that begins an item of a list.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    number: Option<u32>,
    /// State of its check box; `None` without one
    is_done: Option<bool>,
    says: &'a str,
}

fn item(line: &str) -> Option<Item<'_>> {
    let text = line.trim_start_matches(' ');
    // What stands further in belongs to another item.
    if line.len() - text.len() > 1 {
        return None;
    }
    let (number, rest) = if let Some(rest) = text.strip_prefix(['-', '*', '+']) {
        (None, rest)
    } else {
        let (number, rest) = digits(text)?;
        (Some(number), rest.strip_prefix(['.', ')'])?)
    };
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    let (is_done, says) = unboxed(rest);
    (number.is_some() || is_done.is_some()).then_some(Item { number, is_done, says })
}

/// Splits a leading check box from the text.
fn unboxed(says: &str) -> (Option<bool>, &str) {
    for (mark, ticked) in [("[ ]", false), ("[x]", true), ("[X]", true)] {
        if let Some(rest) = says.strip_prefix(mark) {
            return (Some(ticked), rest.trim_start());
        }
    }
    (None, says)
}

/// The number and the title that a heading gives a step: `ParsedStep 3: Title`, `3. Title`.
fn numbered(says: &str) -> Option<(u32, String)> {
    let (_, bare) = unboxed(says.trim_start_matches(['✅', ' ']));
    let bare = bare.trim_start_matches(['*', '_']);
    let (number, rest) = if let Some(rest) = after_word(bare, "step") {
        let (number, rest) = digits(rest)?;
        let apart = rest.trim_start();
        let title = apart.strip_prefix([':', '.', ')', '-', '–', '—']);
        let is_apart = rest.is_empty() || rest.len() > apart.len();
        // `ParsedStep 2.1` and `ParsedStep 2a` are no numbers of ours.
        let title =
            title.filter(|title| title.is_empty() || title.starts_with([' ', '\t', '*', '_']));
        (number, title.or_else(|| is_apart.then_some(apart))?)
    } else {
        let (number, rest) = digits(bare)?;
        let rest = rest.strip_prefix(['.', ')', ':'])?;
        (number, Some(rest).filter(|rest| rest.starts_with([' ', '\t', '*', '_']))?)
    };
    let title = clean(rest);
    Some((number, if title.is_empty() { format!("Step {number}") } else { title }))
}

/// Number of a step in a reference: `3`, `#3`, `step 3`, `ParsedStep 3: Title`.
pub(super) fn reference(word: &str) -> Option<u32> {
    let bare = word.trim_start_matches('#');
    let bare = after_word(bare, "steps").or_else(|| after_word(bare, "step")).unwrap_or(bare);
    match digits(bare) {
        Some((number, "")) => Some(number),
        _ => numbered(word).map(|(number, _)| number),
    }
}

/// Text after a leading word and a space.
fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (message, rest) = text.split_at_checked(word.len())?;
    let apart = rest.trim_start();
    (message.eq_ignore_ascii_case(word) && apart.len() < rest.len()).then_some(apart)
}

fn digits(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// Words on a line, without marks of emphasis, and of being done behind them.
pub(super) fn clean(says: &str) -> String {
    let words = says.replace("**", "").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text: String = words.chars().filter(|c| !c.is_control()).collect();
    loop {
        let bare = text.trim_matches(['*', '_', ' ', '✅']);
        let bare = ["[x]", "[X]", "(done)", "(Done)"]
            .iter()
            .find_map(|mark| bare.strip_suffix(mark))
            .unwrap_or(bare);
        if bare.len() == text.len() {
            return text;
        }
        text = bare.to_owned();
    }
}

fn cut(title: &str) -> String {
    if title.chars().count() <= MAX_ITEM_CHARS {
        return title.to_owned();
    }
    let mut cut: String = title.chars().take(MAX_ITEM_CHARS - 1).collect();
    cut.push('…');
    cut
}
