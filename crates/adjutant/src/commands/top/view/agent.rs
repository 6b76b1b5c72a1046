//! One agent: its facts, and its stream as it happens.

use model::AgentStateName;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use wire::crew::CrewRow;

use super::super::describe::is_over;
use super::super::layout;
use super::super::model::stream::{Length, StreamLine, Tone};
use super::super::model::{AgentState, Follow, Reading, State};
use super::super::text::{cut, right};
use super::words::{doing, elapsed, since, spent, state as standing};
use super::{BOLD, Paint, line, lines, rule, span};
use crate::terminal::render::tokens;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, body: Rect, paint: Paint) {
    let Some(agent) = &state.agent else {
        let text = " Select an agent in the crew (1) and press Enter.";
        return line(frame, body, Line::styled(text, paint.dim()));
    };
    let (facts, stream) = layout::agent(body);
    let row = state.crew.tree.row(agent.id);
    match row {
        Some(row) => lines(frame, facts, head(state, agent, row, paint)),
        None => line(frame, facts, Line::raw(format!(" {}", agent.id))),
    }
    rule(
        frame,
        Rect { y: facts.bottom().saturating_sub(1), height: 1, ..facts },
        &place(agent, stream),
        paint,
    );
    let seen = agent.stream.lines().iter().skip(agent.top);
    if agent.stream.lines().is_empty() {
        let text = match &agent.reading {
            Reading::Loading => " Reading its stream…".to_owned(),
            Reading::Failed(why) => format!(" {why}"),
            _ if !agent.filter.is_empty() => " No line matches. Esc shows all.".to_owned(),
            Reading::Open | Reading::Over => " It has said nothing yet.".to_owned(),
        };
        line(frame, stream, Line::styled(cut(&text, usize::from(stream.width)), paint.dim()));
    }
    let began = row.map(|row| row.started_at);
    for (one, area) in seen.zip(stream.rows()) {
        let at = one.at.zip(began).map(|(at, began)| since(at, began)).unwrap_or_default();
        let style = tone(one, paint);
        let drawn = Line::from(vec![
            Span::styled(format!("{} ", right(&at, 8)), paint.dim()),
            Span::styled(format!("{} ", one.sign), style),
            Span::styled(one.text.clone(), style),
        ]);
        frame.render_widget(drawn, area);
    }
}

fn tone(line: &StreamLine, paint: Paint) -> Style {
    match line.tone {
        Tone::Said => Style::new(),
        Tone::Told => paint.fg(ratatui::style::Color::Cyan),
        Tone::Call => BOLD,
        Tone::Quiet => paint.dim(),
        Tone::Bad => paint.bad(),
    }
}

/// Where in the stream the screen is.
fn place(agent: &AgentState, area: Rect) -> String {
    let many = agent.stream.lines().len();
    let last = (agent.top + usize::from(area.height)).min(many);
    let mut words = match (agent.follow, &agent.reading) {
        (Follow::Following, Reading::Over) => vec!["stream, to its end".to_owned()],
        (Follow::Following, _) => vec!["stream, following".to_owned()],
        (Follow::Staying, _) => vec![format!("stream, line {last} of {many}; f follows")],
    };
    if agent.stream.length() == Length::Whole {
        words.push("whole texts".to_owned());
    }
    if !agent.filter.is_empty() {
        words.push(format!("/{}", agent.filter));
    }
    words.join(" · ")
}

fn head<'a>(state: &State, agent: &AgentState, row: &CrewRow, paint: Paint) -> Vec<Line<'a>> {
    let room = usize::from(state.area.width).saturating_sub(2);
    let (sign, word, colour) = standing(row.state);
    let style =
        if row.state == AgentStateName::WaitingInput { paint.ask() } else { paint.fg(colour) };
    let money = spent(row);
    let mut first = vec![
        Span::styled(format!(" {} ", row.role), BOLD),
        Span::styled(format!("{}  ", row.short), paint.dim()),
        Span::styled(format!("{sign} {word}"), style),
        Span::raw(format!("  {}", elapsed(row, state.now))),
    ];
    if !money.is_empty() {
        first.push(Span::raw(format!("  {money}")));
    }
    if let Some(deadline) = row.deadline_at.filter(|_| !is_over(row)) {
        first.push(Span::raw(format!("  {} left", span(deadline.millis_since(state.now)))));
    }
    let mut facts = vec![row.kind.clone()];
    facts.extend(row.model.clone());
    if let Some(details) = &agent.details {
        facts.extend(details.worktree.as_ref().map(|tree| tree.branch.clone()));
        if details.attempt > 1 {
            facts.push(format!("attempt {}", details.attempt));
        }
        if details.tokens.input + details.tokens.output > 0 {
            let (read, written) = (tokens(details.tokens.input), tokens(details.tokens.output));
            facts.push(format!("{read} tokens in, {written} out"));
        }
    }
    if row.live_below > 0 {
        facts.push(format!("{} live below", row.live_below));
    }
    facts.push(row.id.to_string());
    let prompt = agent.details.as_ref().and_then(|details| details.prompt.as_ref());
    let task = match (&row.task, prompt) {
        (Some(task), _) => format!("TAS-{} {}", task.number, task.title),
        (None, Some(prompt)) => format!("asked: {}", crate::terminal::render::line(prompt)),
        (None, None) => String::new(),
    };
    vec![
        Line::from(first),
        Line::raw(format!(" {}", cut(&task, room))),
        Line::styled(format!(" {}", cut(&facts.join(" · "), room)), paint.dim()),
        Line::raw(format!(" {}", cut(&doing(row, state.now), room))),
    ]
}
