//! Texts about agents: state, activity, time and money.

use model::{AgentStateName, Timestamp};
use ratatui::style::Color;
use wire::crew::CrewRow;

use super::super::describe::Spending;

/// A state's sign, its word and its colour. The sign and the word say it without the colour.
pub(crate) const fn state(state: AgentStateName) -> (&'static str, &'static str, Color) {
    match state {
        AgentStateName::Queued => ("○", "queued", Color::DarkGray),
        AgentStateName::Starting => ("◌", "starting", Color::Blue),
        AgentStateName::Running => ("●", "running", Color::Blue),
        AgentStateName::WaitingReview => ("◇", "in review", Color::Yellow),
        AgentStateName::WaitingInput => ("?", "needs you", Color::Magenta),
        AgentStateName::Limited => ("◷", "limited", Color::Yellow),
        AgentStateName::Succeeded => ("✓", "done", Color::Green),
        AgentStateName::Failed => ("✗", "failed", Color::Red),
        AgentStateName::TimedOut => ("✗", "timed out", Color::Red),
        AgentStateName::OverBudget => ("$", "over budget", Color::Red),
        AgentStateName::Killed => ("■", "killed", Color::DarkGray),
        AgentStateName::Abandoned => ("■", "abandoned", Color::DarkGray),
        AgentStateName::Lost => ("!", "lost", Color::Red),
    }
}

/// Current activity, one line.
pub(crate) fn doing(row: &CrewRow, now: Timestamp) -> String {
    match row.state {
        AgentStateName::Queued => match row.queue_place {
            Some(1) => "next in line".to_owned(),
            Some(place) => format!("number {place} in line"),
            None => "waits for a place".to_owned(),
        },
        AgentStateName::Starting => "is being started".to_owned(),
        AgentStateName::WaitingInput => match &row.asks {
            Some(asks) => format!("“{}”", asks.subject),
            None => "waits for an answer".to_owned(),
        },
        AgentStateName::WaitingReview => match &row.review {
            Some(review) => format!("review {} of {}", review.iteration, review.max),
            None => "waits for a review".to_owned(),
        },
        AgentStateName::Limited => match row.limited_until {
            Some(until) => format!("its model answers again in {}", span(until.millis_since(now))),
            None => "its model does not answer".to_owned(),
        },
        _ => match &row.doing {
            Some(doing) => match &doing.tool {
                Some(tool) => format!("{} {}", bare(tool), doing.text),
                None => doing.text.clone(),
            },
            None => row.reason.clone().unwrap_or_default(),
        },
    }
}

/// A tool without where it comes from.
fn bare(tool: &str) -> &str {
    let rest = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    rest.map_or(tool, |(_, name)| name)
}

/// Running time of an agent.
pub(crate) fn elapsed(row: &CrewRow, now: Timestamp) -> String {
    if row.state == AgentStateName::Queued {
        return String::new();
    }
    span(row.finished_at.unwrap_or(now).millis_since(row.started_at))
}

/// A length of time: `41s`, `6m 11s`, `2h 06m`, `3d 04h`.
pub(crate) fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// Age, one word.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let words = span(now.millis_since(at));
    words.split(' ').next().unwrap_or_default().to_owned()
}

/// Time since the beginning: `04:07`, `1:04:07`.
pub(crate) fn since(at: Timestamp, began: Timestamp) -> String {
    let seconds = at.millis_since(began) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

/// Dollars: cents, and more where there is less.
pub(crate) fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// Spending of the cap.
pub(crate) fn spent(row: &CrewRow) -> String {
    match Spending::of(row) {
        Spending { spent: Some(spent), cap: Some(cap) } => {
            format!("{} of {}", money(spent), money(cap))
        }
        Spending { spent: Some(spent), cap: None } => money(spent),
        Spending { spent: None, cap: Some(cap) } => format!("of {}", money(cap)),
        Spending { spent: None, cap: None } => String::new(),
    }
}

/// The same where there is little room.
pub(crate) fn spent_short(row: &CrewRow) -> String {
    match Spending::of(row) {
        Spending { spent: Some(spent), cap: Some(cap) } => {
            format!("{}/{}", money(spent), round(cap))
        }
        _ => spent(row),
    }
}

/// Dollars, without cents where there are none.
pub(crate) fn round(usd: f64) -> String {
    if usd.fract() == 0.0 { format!("${usd:.0}") } else { money(usd) }
}

/// A bar of so many columns, to an eighth of a column.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = scaled(share, columns * 8);
    let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(eighths / 8))
}

/// A share of a whole number, from nought to all of it; what is not nothing is at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "columns of a screen"
)]
pub(crate) fn scaled(share: f64, whole: usize) -> usize {
    if share.is_nan() || share <= 0.0 {
        return 0;
    }
    ((share.min(1.0) * whole as f64).round() as usize).clamp(1, whole.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_has_a_sign_and_a_word_of_its_own() {
        let names = AgentStateName::ALL.map(state);
        let words: std::collections::BTreeSet<(&str, &str)> =
            names.iter().map(|(sign, word, _)| (*sign, *word)).collect();
        assert_eq!(words.len(), names.len(), "{names:?}");
    }

    #[test]
    fn time_and_money_are_short() {
        assert_eq!(
            [41_000, 371_000, 7_560_000, 273_600_000].map(span),
            ["41s", "6m 11s", "2h 06m", "3d 04h"]
        );
        assert_eq!([0.0, 0.004, 1.236].map(money), ["$0.00", "$0.0040", "$1.24"]);
        assert_eq!(
            (bar(0.5, 4), bar(0.001, 4), bar(f64::NAN, 4)),
            ("██".into(), "▏".into(), String::new())
        );
    }
}
