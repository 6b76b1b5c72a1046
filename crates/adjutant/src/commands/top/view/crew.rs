//! The view of the crew: items that need a person, then the tree with activity, time and money.

use model::AgentStateName;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use wire::crew::CrewRow;
use wire::overview::NeedKind;

use super::super::describe::{agent_name, is_over};
use super::super::layout;
use super::super::model::tree::{Fold, Line as TreeLine, Pages, Shown};
use super::super::model::{STANDINGS, State};
use super::super::text::{cut, left, right, width, wrap};
use super::words::{ago, doing, elapsed, spent, spent_short, state as standing};
use super::{BOLD, CHOSEN, Paint, line, lines, rule, shown_needs};

/// From this width on, what may be spent stands in words.
const WIDE_COST: usize = 15;

/// Column widths.
struct Columns {
    name: usize,
    state: usize,
    task: usize,
    doing: usize,
    time: usize,
    cost: usize,
}

impl Columns {
    /// Computes the widths; task and activity shrink first.
    fn new(whole: usize) -> Self {
        let wide = whole >= 120;
        let (state, time, cost) = if wide { (13, 8, 17) } else { (13, 7, 11) };
        let rest = whole.saturating_sub(state + time + cost + 6);
        let name = if wide { (rest * 2 / 5).clamp(18, 40) } else { 18 };
        let rest = rest.saturating_sub(name);
        let task = if wide { rest * 2 / 5 } else { rest.min(7) };
        Self { name, state, task, doing: rest.saturating_sub(task), time, cost }
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, body: Rect, paint: Paint) {
    let areas = layout::crew(body, state.needs());
    needs(frame, state, areas.needs, paint);
    let columns = Columns::new(usize::from(body.width));
    titles(frame, state, areas.titles, &columns, paint);
    let crew = &state.crew;
    if crew.lines.is_empty() {
        let text = if !crew.tree.is_loaded() {
            " Reading the crew…".to_owned()
        } else if crew.filter.is_empty() && crew.standing == 0 {
            " No agents yet. Start one: adjutant run --role coder 'Fix it'   (or see adjutant demo)"
                .to_owned()
        } else {
            " No agent matches. Esc shows all.".to_owned()
        };
        line(frame, areas.list, Line::styled(text, paint.dim()));
    }
    let seen = crew.lines.iter().enumerate().skip(crew.top);
    for ((at, shown), area) in seen.zip(areas.list.rows()) {
        let drawn = entry(state, shown, &columns, paint);
        let drawn = if at == crew.selected { drawn.patch_style(CHOSEN) } else { drawn };
        frame.render_widget(drawn, area);
        if at == crew.selected {
            frame.buffer_mut().set_style(area, CHOSEN);
        }
    }
    dock(frame, state, areas.dock, paint);
}

fn needs(frame: &mut Frame<'_>, state: &State, area: Rect, paint: Paint) {
    let Some(overview) = state.overview.as_ref().filter(|_| area.height > 0) else { return };
    let many = shown_needs(state);
    let mut all = Vec::new();
    for (at, need) in overview.needs_you.iter().take(many).enumerate() {
        let mut facts = vec![need.detail.clone(), ago(need.since, state.now)];
        if need.holds_up > 0 {
            facts.push(format!("holds up {}", need.holds_up));
        }
        let more = overview.needs_you_count.saturating_sub(many);
        if at + 1 == many && more > 0 {
            facts.push(format!("and {more} more"));
        }
        let facts =
            facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(" · ");
        let sign = match need.kind {
            NeedKind::Question | NeedKind::Permission => "?",
            NeedKind::Budget => "$",
            NeedKind::Mail | NeedKind::Merge => "!",
            NeedKind::Review | NeedKind::ReviewLimit => "◇",
        };
        let room = usize::from(area.width).saturating_sub(4);
        let title = cut(&need.title, room * 3 / 5);
        let facts = cut(&facts, room.saturating_sub(width(&title) + 2));
        all.push(Line::from(vec![
            Span::styled(format!(" {sign} "), paint.ask()),
            Span::styled(format!("{title}  "), BOLD),
            Span::styled(facts, paint.dim()),
        ]));
    }
    lines(frame, area, all);
    let last = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    rule(frame, last, "n goes there", paint);
}

fn titles(frame: &mut Frame<'_>, state: &State, area: Rect, columns: &Columns, paint: Paint) {
    let crew = &state.crew;
    let of = STANDINGS.get(crew.standing).copied().unwrap_or("all");
    let name = match (crew.standing, crew.filter.is_empty()) {
        (0, true) => "AGENT".to_owned(),
        (0, false) => format!("AGENT /{}", crew.filter),
        (_, true) => format!("AGENT {of}"),
        (_, false) => format!("AGENT {of} /{}", crew.filter),
    };
    let cells = [
        left(&name, columns.name),
        left("STATE", columns.state),
        left("TASK", columns.task),
        left("DOING", columns.doing),
        right("TIME", columns.time),
        right("COST", columns.cost),
    ];
    line(
        frame,
        area,
        Line::styled(format!(" {}", cells.join(" ")), paint.dim().add_modifier(Modifier::BOLD)),
    );
}

fn entry<'a>(state: &State, shown: &TreeLine, columns: &Columns, paint: Paint) -> Line<'a> {
    let rails = rails(shown);
    match &shown.shown {
        Shown::Agent(id) => match state.crew.tree.row(*id) {
            Some(row) => agent(row, &rails, state, columns, paint),
            None => Line::raw(""),
        },
        Shown::Past(_, count) => {
            let fold = if shown.fold == Fold::Open { "▾" } else { "▸" };
            let noun = if *count == 1 { "agent" } else { "agents" };
            Line::styled(format!(" {rails}{fold} {count} {noun} that ended earlier"), paint.dim())
        }
        Shown::More(_, Pages::Now | Pages::Past) | Shown::Loading(_) => {
            Line::styled(format!(" {rails}… more"), paint.dim())
        }
    }
}

/// The lines that lead to an agent, and whether it is folded.
fn rails(shown: &TreeLine) -> String {
    let mut text = String::new();
    let depth = shown.rails.len();
    for goes_on in shown.rails.iter().skip(1) {
        text.push_str(if *goes_on { "│ " } else { "  " });
    }
    if depth > 0 {
        text.push_str(if shown.last { "└ " } else { "├ " });
    }
    match (&shown.shown, shown.fold) {
        (Shown::Agent(_), Fold::Open) => text.push_str("▾ "),
        (Shown::Agent(_), Fold::Closed) => text.push_str("▸ "),
        _ => {}
    }
    text
}

fn agent<'a>(
    row: &CrewRow,
    rails: &str,
    state: &State,
    columns: &Columns,
    paint: Paint,
) -> Line<'a> {
    let (sign, word, colour) = standing(row.state);
    let over = is_over(row);
    let base = if over { paint.dim() } else { Style::new() };
    let style =
        if row.state == AgentStateName::WaitingInput { paint.ask() } else { paint.fg(colour) };
    let room = columns.name.saturating_sub(width(rails) + width(&row.short) + 1);
    let role = cut(&row.role, room);
    let used = width(rails) + width(&role) + 1 + width(&row.short);
    let pad = columns.name.saturating_sub(used) + 1;
    let task = match &row.task {
        Some(task) if columns.task > 12 => format!("TAS-{} {}", task.number, task.title),
        Some(task) => format!("TAS-{}", task.number),
        None => String::new(),
    };
    let cost = if columns.cost < WIDE_COST { spent_short(row) } else { spent(row) };
    let word = match &row.review {
        Some(review) => format!("{sign} review {}/{}", review.iteration, review.max),
        None => format!("{sign} {word}"),
    };
    Line::from(vec![
        Span::styled(format!(" {rails}"), paint.dim()),
        Span::styled(role, if over { base } else { BOLD }),
        Span::styled(format!(" {}{}", row.short, " ".repeat(pad)), paint.dim()),
        Span::styled(format!("{} ", left(&word, columns.state)), style),
        Span::styled(format!("{} ", left(&task, columns.task)), base),
        Span::styled(format!("{} ", left(&doing(row, state.now), columns.doing)), base),
        Span::styled(format!("{} ", right(&elapsed(row, state.now), columns.time)), base),
        Span::styled(right(&cost, columns.cost), base),
    ])
}

/// More of the agent that is selected, where there is room.
fn dock(frame: &mut Frame<'_>, state: &State, area: Rect, paint: Paint) {
    let Some(row) = state.crew.chosen().filter(|_| area.height > 0) else { return };
    rule(frame, area, &agent_name(row), paint);
    let (sign, word, _) = standing(row.state);
    let mut facts = vec![format!("{sign} {word}"), row.kind.clone()];
    facts.extend(row.model.clone());
    facts.push(elapsed(row, state.now));
    facts.push(spent(row));
    if let Some(deadline) = row.deadline_at.filter(|_| !is_over(row)) {
        facts.push(format!("must be over in {}", super::span(deadline.millis_since(state.now))));
    }
    if row.live_below > 0 {
        facts.push(format!("{} live below", row.live_below));
    }
    facts.retain(|fact| !fact.is_empty());
    let mut all = vec![Line::raw(format!(" {}", facts.join(" · ")))];
    if let Some(task) = &row.task {
        all.push(Line::raw(format!(" TAS-{} {}", task.number, task.title)));
    }
    let text = doing(row, state.now);
    let text = wrap(&text, usize::from(area.width).saturating_sub(2));
    all.extend(text.into_iter().map(|text| Line::styled(format!(" {text}"), paint.dim())));
    lines(frame, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, all);
}
