//! Layout of a screen of a given size, used for drawing and for scrolling.

use ratatui::layout::{Constraint, Layout, Rect};

/// Smaller than this there is no room.
pub(crate) const MIN_SIZE: (u16, u16) = (60, 15);
/// From this width on, panes stand side by side.
const WIDE: u16 = 120;
/// From this height on, the crew has a dock.
const TALL: u16 = 36;
/// Height of the dock.
const DOCK: u16 = 8;
/// Requests shown.
pub(crate) const NEEDS: usize = 3;

/// The frame around every view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) head: Rect,
    /// Area of the note that the server is away; empty while it is there
    pub(crate) strip: Rect,
    pub(crate) body: Rect,
    pub(crate) foot: Rect,
}

/// Cuts a screen into the frame.
pub(crate) fn frame(area: Rect, strip: u16) -> Frame {
    let rows = [
        Constraint::Length(2),
        Constraint::Length(strip),
        Constraint::Min(1),
        Constraint::Length(1),
    ];
    let [head, strip, body, foot] = Layout::vertical(rows).areas(area);
    Frame { head, strip, body, foot }
}

/// The crew's parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrewAreas {
    pub(crate) needs: Rect,
    pub(crate) titles: Rect,
    pub(crate) list: Rect,
    pub(crate) dock: Rect,
}

/// Cuts the body for the crew, where so many need a person.
pub(crate) fn crew(body: Rect, needs: usize) -> CrewAreas {
    let needs = match u16::try_from(needs.min(NEEDS)).unwrap_or_default() {
        0 => 0,
        some => some + 1,
    };
    let dock = if body.height >= TALL { DOCK } else { 0 };
    let rows = [
        Constraint::Length(needs),
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(dock),
    ];
    let [needs, titles, list, dock] = Layout::vertical(rows).areas(body);
    CrewAreas { needs, titles, list, dock }
}

/// Cuts the body for one agent: facts, and the stream.
pub(crate) fn agent(body: Rect) -> (Rect, Rect) {
    let [facts, stream] = Layout::vertical([Constraint::Length(5), Constraint::Min(1)]).areas(body);
    (facts, stream)
}

/// Text width of a stream.
pub(crate) fn stream_width(stream: Rect) -> usize {
    usize::from(stream.width).saturating_sub(11)
}

/// Cuts the body for mail: the list, and what is read.
pub(crate) fn mail(body: Rect) -> (Rect, Rect) {
    let [list, pane] = if body.width >= WIDE {
        Layout::horizontal([Constraint::Percentage(42), Constraint::Min(1)]).areas(body)
    } else {
        let rows = (body.height / 3).max(4);
        Layout::vertical([Constraint::Length(rows), Constraint::Min(1)]).areas(body)
    };
    (list, pane)
}

/// Text width of mails.
pub(crate) fn thread_width(body: Rect) -> usize {
    let edge = if is_wide(body) { 4 } else { 3 };
    usize::from(mail(body).1.width).saturating_sub(edge)
}

/// True if panes are side by side.
pub(crate) fn is_wide(body: Rect) -> bool {
    body.width >= WIDE
}
