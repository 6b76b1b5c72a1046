//! The only printer: text for people, or JSON. What agents wrote is made harmless here, before it
//! reaches a terminal.

use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal as _, Write as _};

use clap::builder::styling::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use model::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::cli_error::CliError;
use crate::yaml::Problem;

/// Default page width.
const WIDTH: u16 = 80;

/// Gap between the columns of a table.
const GAP: usize = 2;

/// For whom answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Render {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Render {
    /// True for JSON output.
    pub(crate) fn is_json(self) -> bool {
        self == Self::Json
    }

    /// Shows an answer: as it is, or as the text that is made for people.
    pub(crate) fn answer(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> io::Result<()> {
        match self {
            Self::Json => print_json(value),
            Self::Text => print_text(&text()),
        }
    }

    /// Says something on the side, on stderr; programs are spared.
    pub(crate) fn aside(self, text: &str) -> io::Result<()> {
        match self {
            Self::Json => Ok(()),
            Self::Text => writeln!(anstream::stderr().lock(), "{text}"),
        }
    }

    /// Says why a command failed.
    pub(crate) fn print_error(self, cli_error: &CliError) -> io::Result<()> {
        if cli_error.message().is_empty() {
            return Ok(());
        }
        let mut err = anstream::stderr().lock();
        if self.is_json() {
            return writeln!(err, "{}", cli_error.body());
        }
        // Messages about files and settings are long, and only people read them.
        let set = |text: &str| match cli_error.problem() {
            Some(_) => wrapped(text, usize::from(WIDTH) - 7).join("\n       "),
            None => plain(text),
        };
        match cli_error.problem().and_then(|problem| Some((problem, excerpt(problem)?))) {
            Some((problem, excerpt)) => {
                writeln!(err, "{}: {}", painted(RED, "error"), set(&problem.message))?;
                writeln!(err, "  {} {}", dim("at"), plain(&problem.place))?;
                write!(err, "{excerpt}")?;
            }
            None => writeln!(err, "{}: {}", painted(RED, "error"), set(cli_error.message()))?,
        }
        for hint in cli_error.hints() {
            writeln!(err, "  {} {}", painted(CYAN, "try:"), set(hint))?;
        }
        Ok(())
    }
}

/// The lines around what is wrong with a file, as they fit a page.
pub(crate) fn excerpt(problem: &Problem) -> Option<String> {
    problem.excerpt(usize::from(width().min(2 * WIDTH)))
}

/// Prints a value on a line.
pub(crate) fn print_json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::other)?;
    let mut out = anstream::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Prints lines for people.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", text.trim_end_matches('\n'))?;
    out.flush()
}

/// Prints bytes as they are.
pub(crate) fn print_raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Prints bytes as they are, on the side.
pub(crate) fn print_raw_aside(bytes: &[u8]) -> io::Result<()> {
    let mut err = io::stderr().lock();
    err.write_all(bytes)?;
    err.flush()
}

/// Shows a page in place of the one before, as much of it as fits the terminal.
pub(crate) fn redraw(text: &str) -> io::Result<()> {
    let rows = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| size.ws_row);
    let most = if rows > 1 { usize::from(rows) - 1 } else { usize::MAX };
    let shown: Vec<&str> = text.lines().take(most).collect();
    // Home, and away with all below: not through the printer, which takes such words out where no
    // colours are wanted.
    print_raw(b"\x1b[H\x1b[J")?;
    print_text(&shown.join("\n"))
}

/// True for a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Lines for people, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

impl Page {
    /// Adds a line, or several.
    pub(crate) fn line(&mut self, text: impl Display) {
        // Writing to a String cannot fail.
        _ = writeln!(self.0, "{text}");
    }

    /// Adds text as it is.
    pub(crate) fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// All of it.
    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

const RED: Style = AnsiColor::Red.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();
const CYAN: Style = AnsiColor::Cyan.on_default();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn painted(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Text that stands out.
pub(crate) fn bold(text: impl Display) -> String {
    painted(BOLD, text)
}

/// Text that stands back.
pub(crate) fn dim(text: impl Display) -> String {
    painted(DIM, text)
}

/// Text that can be typed or is a name.
pub(crate) fn name(text: impl Display) -> String {
    painted(CYAN, text)
}

/// Good news.
pub(crate) fn good(text: impl Display) -> String {
    painted(GREEN, text)
}

/// News to look at.
pub(crate) fn odd(text: impl Display) -> String {
    painted(YELLOW, text)
}

/// Bad news.
pub(crate) fn bad(text: impl Display) -> String {
    painted(RED, text)
}

/// Width of the terminal.
fn width() -> u16 {
    // A terminal that does not know says nought.
    Table::new().width().filter(|width| *width > 0).unwrap_or(WIDTH)
}

/// Room left on a line of a terminal; unlimited in a pipe.
pub(crate) fn room(used: usize) -> usize {
    if io::stdout().is_terminal() { usize::from(width()).saturating_sub(used) } else { usize::MAX }
}

/// Foreign text without control sequences and without characters that change its direction.
pub(crate) fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text)
        .flat_map(str::chars)
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || turns_about(*c)))
        .collect()
}

/// True for a character that changes the text direction.
const fn turns_about(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same on one line.
pub(crate) fn line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning of a line, as a list shows it.
pub(crate) fn short(text: &str, most: usize) -> String {
    let whole = line(text);
    if whole.chars().count() <= most {
        return whole;
    }
    let mut cut: String = whole.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Foreign text, indented.
pub(crate) fn quoted(text: &str) -> String {
    let mut page = Page::default();
    for line in plain(text).lines() {
        page.line(format_args!("    {line}"));
    }
    page.into_text()
}

/// A text in lines of at most so many characters, but for longer words.
pub(crate) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line(text).split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= most => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text of a value as JSON writes it, sanitised; a dash for an absent one.
pub(crate) fn shown(value: &impl Serialize) -> String {
    match serde_json::to_value(value).unwrap_or_default() {
        Value::Null => "-".to_owned(),
        Value::String(text) => line(&text),
        other => line(&other.to_string()),
    }
}

/// Age of a time, one word.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.millis_since(at) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A length of time, in two words at most.
pub(crate) fn span(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        ..1 => format!("{millis}ms"),
        1..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// An amount of dollars.
pub(crate) fn dollars(usd: f64) -> String {
    format!("${usd:.4}")
}

/// A number of tokens, in four characters or so.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// A cell that is cut on a terminal; in a pipe it is whole, for other programs may need it.
pub(crate) fn cell(text: &str, most: usize) -> String {
    if is_terminal() { short(text, most) } else { line(text) }
}

/// A table of which one column gives way: on a terminal it has the room that the others leave.
pub(crate) fn elastic<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    gives_way: &str,
) -> String {
    let mut rows: Vec<[String; N]> = rows.into_iter().collect();
    let widest = |(at, heading): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        cells.max().unwrap_or_default().max(heading.chars().count()) + GAP
    };
    let others = headings.iter().enumerate().filter(|(_, heading)| **heading != gives_way);
    let left = room(others.map(widest).sum::<usize>() + GAP).max(10);
    for (heading, text) in rows.iter_mut().flat_map(|row| headings.iter().zip(row)) {
        if *heading == gives_way {
            *text = short(text, left);
        }
    }
    table(headings, rows)
}

/// A table: headings, and rows of cells that are harmless already and have no colours, which would
/// count as characters.
pub(crate) fn table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(headings.map(|text| Cell::new(text).set_alignment(CellAlignment::Left)));
    for row in rows {
        table.add_row(row);
    }
    // In a pipe a row is a line, so that other programs can use it.
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width());
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let text: String =
        table.lines().flat_map(|line| [line.trim_end().to_owned(), "\n".to_owned()]).collect();
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head)),
        None => text,
    }
}

/// Count with its noun: `1 task`, `2 tasks`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The same for a count of another type; one that does not fit is very many.
pub(crate) fn counted(number: impl TryInto<usize>, noun: &str) -> String {
    count(number.try_into().unwrap_or(usize::MAX), noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_gone() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\u{7} \u{9b}2J\u{202e}x\r\n\ty"), "red 2Jx\n\ty");
        assert_eq!(plain("\u{1b}]0;title\u{7}rest"), "rest");
        assert_eq!(line("a\n  b\tc"), "a b c");
    }

    #[test]
    fn a_list_shows_the_beginning_of_a_long_title() {
        assert_eq!(short("a title", 40), "a title");
        let cut = short(&"ä".repeat(100), 40);
        assert_eq!((cut.chars().count(), cut.ends_with('…')), (40, true));
    }

    #[test]
    fn a_long_line_is_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("longer-than-that x", 3), ["longer-than-that", "x"]);
    }

    #[test]
    fn time_passes_in_words() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-01-02T00:00:00.000Z");
        assert_eq!(age(at("2026-01-01T23:59:30.000Z"), now), "30s");
        assert_eq!(age(at("2026-01-01T22:00:00.000Z"), now), "2h");
        let spans = [42, 1_250, 61_000, 3_725_000, 90_000_000].map(span);
        assert_eq!(spans, ["42ms", "1.2s", "1m 01s", "1h 02m", "1d 01h"]);
    }

    #[test]
    fn a_value_is_shown_as_json_writes_it_and_is_harmless() {
        assert_eq!(shown(&Some("a\u{1b}[31m b")), "a b");
        assert_eq!((shown(&7), shown(&None::<i64>)), ("7".to_owned(), "-".to_owned()));
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(dollars(0.012_345), "$0.0123");
        assert_eq!([9_999, 12_345, 4_560_000].map(tokens), ["9999", "12.3k", "4.5M"]);
    }

    #[test]
    fn in_a_pipe_no_column_gives_way() {
        let long = "x".repeat(300);
        let text = elastic(["ID", "TITLE"], [["1".into(), cell(&long, 5)]], "TITLE");
        assert!(text.contains(&long), "{text}");
    }

    #[test]
    fn a_table_in_a_pipe_has_a_line_a_row() {
        let long = "x".repeat(300);
        let text = table(["ID", "TITLE"], [["1".into(), long.clone()], ["22".into(), "y".into()]]);
        let bare = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(bare, format!("ID  TITLE\n1   {long}\n22  y\n"));
    }
}
