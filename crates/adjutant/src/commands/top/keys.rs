//! Key bindings. The help on the screen, the line at its foot and the manual come from this table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::model::View;

/// Action of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Fold,
    Unfold,
    Open,
    Back,
    Show(View),
    NextView,
    PreviousView,
    Filter,
    Need,
    Standing,
    Kill,
    Write,
    Reply,
    Follow,
    Length,
    Box,
    Span,
    By,
    Help,
    Suspend,
    Quit,
}

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyScope {
    /// In every view
    Everywhere,
    /// In one
    In(View),
    /// In two
    Both(View, View),
}

impl KeyScope {
    /// True if it works in a view.
    pub(crate) fn is_in(self, view: View) -> bool {
        match self {
            Self::Everywhere => true,
            Self::In(one) => one == view,
            Self::Both(one, other) => one == view || other == view,
        }
    }

    /// In words.
    #[cfg(test)]
    fn name(self) -> String {
        match self {
            Self::Everywhere => "everywhere".to_owned(),
            Self::In(view) => view.name().to_owned(),
            Self::Both(one, other) => format!("{}, {}", one.name(), other.name()),
        }
    }
}

/// A line of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    /// The keys, as people write them
    pub(crate) shown: &'static str,
    keys: &'static [Key],
    pub(crate) place: KeyScope,
    pub(crate) act: Act,
    /// Description in the help
    pub(crate) what: &'static str,
    /// The same in a word, where it stands at the foot
    pub(crate) foot: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Code(KeyCode),
    Control(char),
}

use Key::{Code, Control};
use KeyScope::{Both, Everywhere, In};

const fn c(letter: char) -> Key {
    Code(KeyCode::Char(letter))
}

const fn bind(
    shown: &'static str,
    keys: &'static [Key],
    place: KeyScope,
    act: Act,
    what: &'static str,
    foot: Option<&'static str>,
) -> Binding {
    Binding { shown, keys, place, act, what, foot }
}

/// Every key.
pub(crate) const BINDINGS: [Binding; 27] = [
    bind("↑ k", &[Code(KeyCode::Up), c('k')], Everywhere, Act::Up, "Up a line", None),
    bind("↓ j", &[Code(KeyCode::Down), c('j')], Everywhere, Act::Down, "Down a line", None),
    bind(
        "PgUp Ctrl-B",
        &[Code(KeyCode::PageUp), Control('b')],
        Everywhere,
        Act::PageUp,
        "Up a page",
        None,
    ),
    bind(
        "PgDn Ctrl-F Space",
        &[Code(KeyCode::PageDown), Control('f'), c(' ')],
        Everywhere,
        Act::PageDown,
        "Down a page",
        None,
    ),
    bind(
        "Home g",
        &[Code(KeyCode::Home), c('g')],
        Everywhere,
        Act::First,
        "To the beginning",
        None,
    ),
    bind("End G", &[Code(KeyCode::End), c('G')], Everywhere, Act::Last, "To the end", None),
    bind(
        "← h",
        &[Code(KeyCode::Left), c('h')],
        In(View::Crew),
        Act::Fold,
        "Fold, or go to the parent",
        None,
    ),
    bind("→ l", &[Code(KeyCode::Right), c('l')], In(View::Crew), Act::Unfold, "Unfold", None),
    bind(
        "Enter",
        &[Code(KeyCode::Enter)],
        Both(View::Crew, View::Mail),
        Act::Open,
        "Open the agent, or the mail",
        Some("open"),
    ),
    bind("Esc", &[Code(KeyCode::Esc)], Everywhere, Act::Back, "Back; clears the filter", None),
    bind("r", &[c('r')], In(View::Mail), Act::Reply, "Reply to the mail", Some("reply")),
    bind("m", &[c('m')], Everywhere, Act::Write, "Write to the agent", Some("write")),
    bind(
        "x",
        &[c('x')],
        Both(View::Crew, View::Agent),
        Act::Kill,
        "Kill the agent and its descendants; asks first",
        Some("kill"),
    ),
    bind(
        "n",
        &[c('n')],
        Everywhere,
        Act::Need,
        "Go to the next item that needs you",
        Some("needs you"),
    ),
    bind(
        "/",
        &[c('/')],
        Everywhere,
        Act::Filter,
        "Filter agents, lines of the stream, mail",
        Some("filter"),
    ),
    bind(
        "s",
        &[c('s')],
        In(View::Crew),
        Act::Standing,
        "Show only running, waiting, queued or ended agents",
        Some("state"),
    ),
    bind("f", &[c('f')], In(View::Agent), Act::Follow, "Follow the stream again", Some("follow")),
    bind(
        "o",
        &[c('o')],
        In(View::Agent),
        Act::Length,
        "Toggle long texts in full or their first lines",
        Some("whole"),
    ),
    bind(
        "b",
        &[c('b')],
        In(View::Mail),
        Act::Box,
        "Mail to you, between agents, from you",
        Some("box"),
    ),
    bind("t", &[c('t')], In(View::Costs), Act::Span, "Today, 7 days or 30 days", Some("time")),
    bind("y", &[c('y')], In(View::Costs), Act::By, "By role, model, task or lineage", Some("by")),
    bind("1 2 3 4", &[], Everywhere, Act::Help, "Crew, Agent, Mail, Costs", None),
    bind("Tab", &[Code(KeyCode::Tab)], Everywhere, Act::NextView, "The next view", None),
    bind(
        "Shift-Tab",
        &[Code(KeyCode::BackTab)],
        Everywhere,
        Act::PreviousView,
        "The view before",
        None,
    ),
    bind("?", &[c('?')], Everywhere, Act::Help, "This list", Some("help")),
    bind(
        "Ctrl-Z",
        &[Control('z')],
        Everywhere,
        Act::Suspend,
        "Back to the shell; `fg` comes back here",
        None,
    ),
    bind(
        "q Ctrl-C",
        &[c('q'), Control('c')],
        Everywhere,
        Act::Quit,
        "Quit; agents keep running",
        Some("quit"),
    ),
];

/// Action of a key in a view.
pub(crate) fn act(view: View, key: KeyEvent) -> Option<Act> {
    if let KeyCode::Char(digit @ '1'..='4') = key.code {
        let at = usize::try_from(u32::from(digit) - u32::from('1')).unwrap_or_default();
        return View::ALL.get(at).copied().map(Act::Show);
    }
    let pressed = match key.code {
        KeyCode::Char(letter) if key.modifiers.contains(KeyModifiers::CONTROL) => Control(letter),
        code => Code(code),
    };
    let found = BINDINGS.iter().find(|one| one.place.is_in(view) && one.keys.contains(&pressed));
    found.map(|binding| binding.act)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_a_view() {
        for view in View::ALL {
            let here = BINDINGS.iter().filter(|binding| binding.place.is_in(view));
            let mut keys: Vec<Key> = here.flat_map(|binding| binding.keys).copied().collect();
            let all = keys.len();
            keys.sort_by_key(|key| format!("{key:?}"));
            keys.dedup();
            assert_eq!(keys.len(), all, "{view:?}");
        }
    }

    #[test]
    fn the_manual_has_every_key_as_it_is() {
        let manual = include_str!("../../../../../docs/how-to/top.md");
        let rows: Vec<&str> = manual.lines().filter(|line| line.starts_with("| `")).collect();
        let expected: Vec<String> = BINDINGS
            .iter()
            .map(|one| {
                let keys = one.shown.replace(' ', "` `");
                format!("| `{keys}` | {} | {} |", one.place.name(), one.what)
            })
            .collect();
        assert_eq!(rows, expected);
    }
}
