//! Draws a state on a screen. Pure.

mod agent;
mod costs;
mod crew;
mod mail;
mod modal;
#[cfg(test)]
mod tests;
mod words;

use ratatui::Frame;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::keys::BINDINGS;
use super::layout::{MIN_SIZE, NEEDS};
use super::model::{Link, Modal, State, View};
use super::text::{cut, width};
use words::{money, span};

/// Use of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Yes
    Colours,
    /// No: `NO_COLOR` is set
    Plain,
}

impl Paint {
    /// A colour, where there are any.
    fn fg(self, colour: Color) -> Style {
        match self {
            Self::Colours => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }

    fn dim(self) -> Style {
        match self {
            Self::Colours => Style::new().fg(Color::DarkGray),
            Self::Plain => Style::new().add_modifier(Modifier::DIM),
        }
    }

    fn bad(self) -> Style {
        self.fg(Color::Red)
    }

    fn ask(self) -> Style {
        self.fg(Color::Magenta).add_modifier(Modifier::BOLD)
    }
}

/// Style of emphasis.
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// Style of the selection.
const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// Draws a state.
pub(crate) fn draw(frame: &mut Frame<'_>, state: &State, paint: Paint) {
    let area = frame.area();
    if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
        let words = format!(
            "This is {}×{}; at least {}×{} is needed. q quits.",
            area.width, area.height, MIN_SIZE.0, MIN_SIZE.1
        );
        frame
            .render_widget(Paragraph::new(words).wrap(ratatui::widgets::Wrap { trim: true }), area);
        return;
    }
    let parts = state.frame();
    head(frame, state, parts.head, paint);
    if let Link::Away(since) = state.link {
        let text = format!(
            " ! The server is not reachable for {}; agents keep running. As of event {}. Looking for it…",
            span(state.now.millis_since(since)),
            state.last_event
        );
        line(frame, parts.strip, Line::styled(text, paint.bad().add_modifier(Modifier::BOLD)));
    }
    match state.view {
        View::Crew => crew::draw(frame, state, parts.body, paint),
        View::Agent => agent::draw(frame, state, parts.body, paint),
        View::Mail => mail::draw(frame, state, parts.body, paint),
        View::Costs => costs::draw(frame, state, parts.body, paint),
    }
    foot(frame, state, parts.foot, paint);
    modal::draw(frame, state, area, paint);
}

/// Draws one line.
fn line(frame: &mut Frame<'_>, area: Rect, line: Line<'_>) {
    frame.render_widget(line, Rect { height: area.height.min(1), ..area });
}

/// Draws lines from above to below, as far as there is room.
fn lines(frame: &mut Frame<'_>, area: Rect, all: Vec<Line<'_>>) {
    for (one, row) in all.into_iter().zip(area.rows()) {
        frame.render_widget(one, row);
    }
}

/// A line across.
fn rule(frame: &mut Frame<'_>, area: Rect, title: &str, paint: Paint) {
    let title = if title.is_empty() { String::new() } else { format!("─ {title} ") };
    let rest = usize::from(area.width).saturating_sub(width(&title));
    let text = Line::styled(format!("{title}{}", "─".repeat(rest)), paint.dim());
    line(frame, area, text);
}

fn head(frame: &mut Frame<'_>, state: &State, area: Rect, paint: Paint) {
    let mut tabs: Vec<Span<'_>> = Vec::new();
    for (number, view) in View::ALL.iter().enumerate() {
        let many = match (view, &state.overview) {
            (View::Mail, Some(overview)) if overview.mail.unread > 0 => {
                format!(" ({})", overview.mail.unread)
            }
            _ => String::new(),
        };
        let text = format!(" {} {}{many} ", number + 1, view.name());
        let style =
            if *view == state.view { CHOSEN.add_modifier(Modifier::BOLD) } else { Style::new() };
        tabs.push(Span::styled(text, style));
    }
    let tabs = Line::from(tabs);
    let room = usize::from(area.width).saturating_sub(tabs.width() + 2);
    line(frame, area, tabs);
    let pulse = cut(&pulse(state), room);
    frame.render_widget(
        Line::raw(format!("{pulse} ")).alignment(Alignment::Right),
        Rect {
            height: 1,
            x: area.right().saturating_sub(u16::try_from(room + 1).unwrap_or(area.width)),
            width: u16::try_from(room + 1).unwrap_or(area.width),
            ..area
        },
    );
    rule(frame, Rect { y: area.y + 1, ..area }, "", paint);
}

/// Summary line: requests to a person, running agents, cost.
fn pulse(state: &State) -> String {
    let Some(overview) = &state.overview else { return "connecting…".to_owned() };
    let mut parts = Vec::new();
    if overview.needs_you_count > 0 {
        let verb = if overview.needs_you_count == 1 { "needs" } else { "need" };
        parts.push(format!("? {} {verb} you", overview.needs_you_count));
    }
    let wide = state.area.width >= 120;
    let (used, max) = (overview.running.used, overview.running.max);
    parts.push(format!("{} running", overview.agents.running));
    if wide {
        parts.push(format!("{used} of {max} places"));
    }
    if wide && overview.running.queued > 0 {
        parts.push(format!("{} queued", overview.running.queued));
    }
    parts.push(match overview.today.limit_usd {
        None if !wide => money(overview.today.usd),
        Some(limit) if !wide => format!("{}/{}", money(overview.today.usd), words::round(limit)),
        Some(limit) => format!("{} of {} today", money(overview.today.usd), money(limit)),
        None => format!("{} today", money(overview.today.usd)),
    });
    if wide {
        parts.push(format!("event {}", state.last_event));
        parts.push(overview.project.clone());
    }
    parts.join(" · ")
}

fn foot(frame: &mut Frame<'_>, state: &State, area: Rect, paint: Paint) {
    if let Some(Modal::Filter(editor)) = &state.modal {
        let text = format!(" /{}", editor.text());
        let at = width(editor.before()) + 2;
        line(frame, area, Line::styled(text, BOLD));
        let x = area
            .x
            .saturating_add(u16::try_from(at).unwrap_or(u16::MAX))
            .min(area.right().saturating_sub(1));
        frame.set_cursor_position((x, area.y));
        return;
    }
    if let Some(note) = &state.note {
        let text = cut(&format!(" {}", note.text), usize::from(area.width));
        line(frame, area, Line::styled(text, BOLD));
        return;
    }
    let mut spans = Vec::new();
    let mut used = 0;
    for binding in BINDINGS.iter().filter(|binding| binding.place.is_in(state.view)) {
        let Some(word) = binding.foot else { continue };
        let key = binding.shown.split(' ').next().unwrap_or_default();
        used += width(key) + width(word) + 3;
        if used > usize::from(area.width) {
            break;
        }
        spans.push(Span::styled(format!(" {key}"), BOLD));
        spans.push(Span::styled(format!(" {word} "), paint.dim()));
    }
    line(frame, area, Line::from(spans));
}

/// Number of requests shown as lines.
fn shown_needs(state: &State) -> usize {
    state.needs().min(NEEDS)
}
