//! Mail: the list, and the thread that is read.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use wire::mail::{MailEntry, MailKind, Thread};

use super::super::describe::{offers, person_name};
use super::super::layout;
use super::super::model::{BOXES, State};
use super::super::text::{cut, left, right, wrap};
use super::words::ago;
use super::{BOLD, CHOSEN, Paint, line, lines, rule};

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, body: Rect, paint: Paint) {
    let (list, pane) = layout::mail(body);
    let mail = &state.mail;
    let of = BOXES.get(mail.of).map_or("", |(_, words)| words);
    let filter =
        if mail.filter.is_empty() { String::new() } else { format!(" · /{}", mail.filter) };
    let title = format!(" Mail {of}{filter}");
    line(frame, list, Line::styled(title, paint.dim().add_modifier(Modifier::BOLD)));
    let below = Rect { y: list.y + 1, height: list.height.saturating_sub(1), ..list };
    if mail.letters.is_empty() {
        let text = match (mail.loaded, mail.filter.is_empty()) {
            (false, _) => " Loading mail…",
            (true, true) => " No mail. Agents write to you when they need you.",
            (true, false) => " No mail matches. Esc shows all.",
        };
        line(frame, below, Line::styled(text, paint.dim()));
    }
    let seen = mail.letters.iter().enumerate().skip(mail.top);
    for ((at, letter), area) in seen.zip(below.rows()) {
        frame.render_widget(entry(letter, state, usize::from(area.width), paint), area);
        if at == mail.selected {
            frame.buffer_mut().set_style(area, CHOSEN);
        }
    }
    let Some(thread) = &mail.thread else { return };
    let pane = if layout::is_wide(body) {
        for y in pane.top()..pane.bottom() {
            line(frame, Rect { y, height: 1, width: 1, ..pane }, Line::styled("│", paint.dim()));
        }
        Rect { x: pane.x + 1, width: pane.width.saturating_sub(1), ..pane }
    } else {
        pane
    };
    read(frame, state, thread, pane, paint);
}

fn entry<'a>(letter: &MailEntry, state: &State, room: usize, paint: Paint) -> Line<'a> {
    let (sign, word) = match (letter.needs_answer, letter.read_at, letter.kind) {
        (true, _, _) => ("?", "asks"),
        (false, _, MailKind::Alert) => ("!", "alert"),
        (false, None, _) => ("●", "new"),
        (false, Some(_), _) => (" ", ""),
    };
    let who = if letter.from.human {
        format!("to {}", person_name(&letter.to))
    } else {
        person_name(&letter.from)
    };
    let is_new = letter.read_at.is_none();
    let style = if is_new { BOLD } else { Style::new() };
    let mark = if letter.needs_answer { paint.ask() } else { style };
    let subject = room.saturating_sub(8 + 18 + 6 + 3);
    Line::from(vec![
        Span::styled(format!(" {sign} {}", left(word, 6)), mark),
        Span::styled(format!("{} ", left(&who, 18)), style),
        Span::styled(format!("{} ", left(&letter.subject, subject)), style),
        Span::styled(right(&ago(letter.created_at, state.now), 5), paint.dim()),
    ])
}

fn read(frame: &mut Frame<'_>, state: &State, thread: &Thread, pane: Rect, paint: Paint) {
    let room = layout::thread_width(state.frame().body);
    let mut all: Vec<Line<'_>> = Vec::new();
    for one in &thread.letters {
        let letter = &one.letter;
        let from = format!(" {} to {}", person_name(&letter.from), person_name(&letter.to));
        all.push(Line::from(vec![
            Span::styled(cut(&from, room.saturating_sub(8)), BOLD),
            Span::styled(format!("  {} ago", ago(letter.created_at, state.now)), paint.dim()),
        ]));
        all.extend(wrap(&one.body, room).into_iter().map(|text| Line::raw(format!("   {text}"))));
        for offer in offers(one) {
            all.push(Line::styled(format!("   ▸ {}", cut(&offer.text, room)), paint.ask()));
        }
        all.push(Line::raw(""));
    }
    let height = usize::from(pane.height.saturating_sub(1));
    let last = all.len().saturating_sub(height);
    let (top, way) = match state.mail.reading {
        Some(at) => (at.min(last), "esc to the list"),
        None => (0, "enter reads it"),
    };
    let more = if top < last { " · more below" } else { "" };
    rule(
        frame,
        pane,
        &format!("{} · {way}{more}", cut(&thread.subject, room.saturating_sub(32))),
        paint,
    );
    let area = Rect { y: pane.y + 1, height: pane.height.saturating_sub(1), ..pane };
    lines(frame, area, all.into_iter().skip(top).collect());
}
