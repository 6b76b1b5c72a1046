//! Dialogs: help, confirmation, mail editor.

use ratatui::Frame;
use ratatui::layout::{Constraint, Margin, Rect, Size};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear};

use super::super::keys::{BINDINGS, Binding};
use super::super::model::editor::Editor;
use super::super::model::{Modal, Phase, State, View, Writing};
use super::super::text::{cut, left, width, wrap};
use super::{BOLD, Paint, line, lines};

/// Width of the key column in the help.
const KEYS: usize = 18;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, area: Rect, paint: Paint) {
    match &state.modal {
        None | Some(Modal::Filter(_)) => {}
        Some(Modal::Help) => help(frame, state.view, area),
        Some(Modal::Kill { name, below, .. }) => kill(frame, area, name, *below),
        Some(Modal::Write(writing)) => write(frame, area, writing, paint),
    }
}

/// A box in the middle; its inside is returned.
fn boxed(frame: &mut Frame<'_>, area: Rect, title: &str, size: Size) -> Rect {
    let wide = Constraint::Length(size.width.min(area.width));
    let place = area.centered(wide, Constraint::Length(size.height.min(area.height)));
    frame.render_widget(Clear, place);
    frame.render_widget(Block::bordered().title(format!(" {title} ")), place);
    place.inner(Margin { horizontal: 2, vertical: 1 })
}

fn help(frame: &mut Frame<'_>, view: View, area: Rect) {
    let here: Vec<&Binding> = BINDINGS.iter().filter(|one| one.place.is_in(view)).collect();
    let entry = |binding: &&Binding, room: usize| {
        let keys = left(binding.shown, KEYS);
        let what = cut(binding.what, room.saturating_sub(KEYS));
        Line::from(vec![Span::styled(keys, BOLD), Span::raw(what)])
    };
    // On a low screen they stand in two columns.
    let columns = if usize::from(area.height) >= here.len() + 2 { 1 } else { 2 };
    let rows = here.len().div_ceil(columns);
    let wide = if columns == 1 { 72 } else { area.width };
    let high = u16::try_from(rows + 2).unwrap_or(area.height);
    let title = format!("Keys in {}; any key closes this", view.name());
    let inside = boxed(frame, area, &title, Size::new(wide, high));
    let room = inside.width / if columns == 1 { 1 } else { 2 };
    let mut x = inside.x;
    for part in here.chunks(rows) {
        let place = Rect { x, width: room.saturating_sub(1), ..inside };
        lines(frame, place, part.iter().map(|one| entry(one, usize::from(room))).collect());
        x += room;
    }
}

fn kill(frame: &mut Frame<'_>, area: Rect, name: &str, below: u32) {
    let (title, what) = match below {
        0 => (format!("Kill {name}?"), "It ends now: asked first, then by force.".to_owned()),
        1 => (
            format!("Kill {name} and the one below it?"),
            "Both end now, the deepest first.".to_owned(),
        ),
        many => (
            format!("Kill {name} and {many} below it?"),
            format!("All {} end now, the deepest first.", many + 1),
        ),
    };
    let inside = boxed(frame, area, &title, Size::new(62, 7));
    lines(
        frame,
        inside,
        vec![
            Line::raw(what),
            Line::raw("What is committed stays; the rest is kept on a rescue"),
            Line::raw("branch."),
            Line::raw(""),
            Line::from(vec![Span::styled("y", BOLD), Span::raw(" kills, any other key does not")]),
        ],
    );
}

fn write(frame: &mut Frame<'_>, area: Rect, writing: &Writing, paint: Paint) {
    let wide = area.width.saturating_sub(8).min(100);
    let offers = writing.offers.len().min(4);
    let high = u16::try_from(10 + offers).unwrap_or(10);
    let title = cut(&writing.to, usize::from(wide).saturating_sub(6));
    let inside = boxed(frame, area, &title, Size::new(wide, high));
    let offers: Vec<Line<'_>> = writing
        .offers
        .iter()
        .take(offers)
        .map(|offer| {
            Line::styled(format!("▸ {}", cut(offer, usize::from(inside.width))), paint.ask())
        })
        .collect();
    let above = u16::try_from(offers.len()).unwrap_or_default();
    lines(frame, inside, offers);
    let foot = Rect { y: inside.bottom().saturating_sub(1), height: 1, ..inside };
    let words = match &writing.phase {
        Phase::Writing if writing.offers.is_empty() => {
            "Enter sends · Alt-Enter new line · Esc keeps it for later".to_owned()
        }
        Phase::Writing => {
            "Tab offers an answer · Enter sends · Alt-Enter new line · Esc".to_owned()
        }
        Phase::Sending => "Sending…".to_owned(),
        Phase::Failed(why) => format!("! {why}"),
    };
    let style = if matches!(writing.phase, Phase::Failed(_)) { paint.bad() } else { paint.dim() };
    line(frame, foot, Line::styled(cut(&words, usize::from(foot.width)), style));
    let text =
        Rect { y: inside.y + above, height: inside.height.saturating_sub(above + 1), ..inside };
    typed(frame, text, &writing.editor);
}

/// A text with the cursor in it, scrolled so that the cursor is seen.
fn typed(frame: &mut Frame<'_>, area: Rect, editor: &Editor) {
    let room = usize::from(area.width).max(1);
    let hard = |text: &str| -> Vec<String> {
        text.split('\n')
            .flat_map(|one| if one.is_empty() { vec![String::new()] } else { wrap_hard(one, room) })
            .collect()
    };
    let all = hard(&editor.text());
    let before = hard(editor.before());
    let row = before.len().saturating_sub(1);
    let column = before.last().map_or(0, |last| width(last)).min(room - 1);
    let top = (row + 1).saturating_sub(usize::from(area.height));
    lines(frame, area, all.into_iter().skip(top).map(Line::raw).collect());
    let x = area.x + u16::try_from(column).unwrap_or_default();
    let y = area.y + u16::try_from(row - top).unwrap_or_default();
    frame.set_cursor_position((x, y));
}

/// Breaks where the room ends, so that the place of the cursor does not depend on what follows.
fn wrap_hard(text: &str, room: usize) -> Vec<String> {
    let joined = text.replace(' ', "\u{a0}");
    wrap(&joined, room).into_iter().map(|line| line.replace('\u{a0}', " ")).collect()
}
