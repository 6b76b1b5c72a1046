//! The view of costs: a summary, money over time by subject, and budgets.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier};
use ratatui::text::{Line, Span};
use wire::costs::{CostSeries, LineageAgent};

use super::super::model::{COST_GROUPS, COST_SPANS, CostsData, State};
use super::super::text::{left, right};
use super::words::{bar, money, scaled};
use super::{BOLD, Paint, line, lines, rule, span};
use crate::terminal::render::{count, tokens};

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, body: Rect, paint: Paint) {
    let Some(costs) = &state.costs.costs else {
        return line(frame, body, Line::styled(" Adding up…", paint.dim()));
    };
    let chart = (body.height / 3).clamp(5, 14);
    let parts = [Constraint::Length(3), Constraint::Length(chart), Constraint::Min(1)];
    let [figures, chart, tables] = Layout::vertical(parts).areas(body);
    lines(frame, figures, head(state, costs, paint));
    series(frame, &costs.series, chart, paint);
    let by = COST_GROUPS.get(state.costs.by).copied().unwrap_or("role");
    let mut all = on(costs, by, usize::from(tables.width), paint);
    all.push(Line::raw(""));
    all.extend(budgets(costs, usize::from(tables.width), paint));
    if let Some(overview) = &state.overview {
        for limited in &overview.limited {
            let left = span(limited.until.millis_since(state.now));
            all.push(Line::raw(format!(" ◷ {} is limited for {left}", limited.who)));
        }
    }
    let last = all.len().saturating_sub(usize::from(tables.height));
    lines(frame, tables, all.into_iter().skip(state.costs.top.min(last)).collect());
}

fn head<'a>(state: &State, costs: &CostsData, paint: Paint) -> Vec<Line<'a>> {
    let summary = &costs.summary;
    let (_, when) = COST_SPANS.get(state.costs.span).copied().unwrap_or_default();
    let mut first = vec![
        Span::styled(format!(" {} ", money(summary.spent_usd)), BOLD),
        Span::raw(when),
        Span::raw(format!(" · {} in the last hour", money(summary.rate_usd))),
    ];
    if let Some(limit) = state.overview.as_ref().and_then(|overview| overview.today.limit_usd) {
        first.push(Span::raw(format!(" · of {} a day", money(limit))));
    }
    let mut facts = vec![
        format!(
            "{} tokens, {} from a cache",
            tokens(summary.tokens.all),
            tokens(summary.tokens.cached)
        ),
        match summary.done_task.median_usd {
            Some(usd) => {
                format!("a done task costs {} (median of {})", money(usd), summary.done_task.count)
            }
            None => "no task is done".to_owned(),
        },
    ];
    if summary.failed.usd > 0.0 {
        facts.push(format!("{} on failed work", money(summary.failed.usd)));
    }
    let running = state.overview.as_ref().map(|overview| {
        format!(
            " {} of {} places taken · {} ever started, {} of them over",
            overview.running.used,
            overview.running.max,
            count(usize::try_from(overview.agents.all).unwrap_or_default(), "agent"),
            overview.agents.ended
        )
    });
    vec![
        Line::from(first),
        Line::raw(format!(" {}", facts.join(" · "))),
        Line::styled(running.unwrap_or_default(), paint.dim()),
    ]
}

/// Spending by step.
fn steps(series: &CostSeries) -> Vec<f64> {
    let step = series.step.max(1);
    let many = usize::try_from(series.to.millis_since(series.from) / step).unwrap_or_default() + 1;
    let mut all = vec![0.0; many.min(1000)];
    for point in &series.points {
        let at = usize::try_from(point.from.millis_since(series.from) / step).unwrap_or_default();
        if let Some(sum) = all.get_mut(at) {
            *sum += point.values.iter().map(|value| value.spent.usd).sum::<f64>();
        }
    }
    all
}

/// Bars over time, with the dearest step named.
fn series(frame: &mut Frame<'_>, series: &CostSeries, area: Rect, paint: Paint) {
    const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let values = steps(series);
    let most = values.iter().copied().fold(0.0, f64::max);
    let noun = if series.step > 3_600_000 { "day" } else { "hour" };
    rule(frame, area, &format!("each {noun}, at most {}", money(most)), paint);
    let height = usize::from(area.height.saturating_sub(2));
    let columns = usize::from(area.width.saturating_sub(2)) / values.len().max(1);
    let columns = columns.clamp(1, 6);
    let eighths: Vec<usize> = values
        .iter()
        .map(|value| if most > 0.0 { scaled(value / most, height * 8) } else { 0 })
        .collect();
    let mut all = Vec::new();
    for row in (0..height).rev() {
        let cells = eighths.iter().map(|eighth| {
            let full = eighth.saturating_sub(row * 8).min(8);
            let block = EIGHTHS.get(full).copied().unwrap_or(" ");
            let gap = if columns > 1 { " " } else { "" };
            format!("{}{gap}", block.repeat((columns - gap.len()).max(1)))
        });
        all.push(Line::styled(format!(" {}", cells.collect::<String>()), paint.fg(Color::Blue)));
    }
    let wide = values.len() * columns;
    let (from, to) = (at(series.from, series.step), at(series.to, series.step));
    let gap = wide.saturating_sub(from.len() + to.len());
    all.push(Line::styled(format!(" {from}{}{to}", " ".repeat(gap)), paint.dim()));
    lines(frame, Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }, all);
}

fn at(time: model::Timestamp, step: i64) -> String {
    if step > 3_600_000 {
        time.date()
    } else {
        time.time_of_day().get(..5).unwrap_or_default().to_owned()
    }
}

fn on<'a>(costs: &CostsData, by: &str, room: usize, paint: Paint) -> Vec<Line<'a>> {
    let name = (room / 3).clamp(16, 40);
    let bars = room.saturating_sub(name + 10 + 6 + 10 + 6).min(60);
    let heading = format!(
        " {} {} {} {}",
        left(&format!("BY {}", by.to_uppercase()), name),
        right("COST", 10),
        right("SHARE", 6),
        right("TOKENS", 9)
    );
    let mut all = vec![Line::styled(heading, paint.dim().add_modifier(Modifier::BOLD))];
    let whole: f64 = costs.series.keys.iter().map(|key| key.spent.usd).sum();
    for key in &costs.series.keys {
        let share = if whole > 0.0 { key.spent.usd / whole } else { 0.0 };
        all.push(Line::from(vec![
            Span::raw(format!(" {} {} ", left(&key.label, name), right(&money(key.spent.usd), 10))),
            Span::raw(format!(
                "{} {}  ",
                right(&format!("{:.0}%", share * 100.0), 6),
                right(&tokens(key.spent.tokens), 9)
            )),
            Span::styled(bar(share, bars), paint.fg(Color::Blue)),
        ]));
    }
    if costs.series.keys.is_empty() {
        all.push(Line::styled(" Nothing was spent in this time.", paint.dim()));
    }
    all
}

/// Budgets of a lineage.
fn budgets<'a>(costs: &CostsData, room: usize, paint: Paint) -> Vec<Line<'a>> {
    let Some(root) = &costs.lineage else { return Vec::new() };
    let name = (room / 3).clamp(16, 40);
    let heading = format!(" {} {}", left("BUDGETS", name), right("SPENT OF CAP", 20));
    let mut all = vec![Line::styled(heading, paint.dim().add_modifier(Modifier::BOLD))];
    branch(root, 0, name, &mut |text, share, style_bad| {
        let bars = room.saturating_sub(name + 26).min(40);
        let style = if style_bad == CapState::Yes { paint.bad() } else { paint.fg(Color::Blue) };
        all.push(Line::from(vec![Span::raw(text), Span::styled(bar(share, bars), style)]));
    });
    all
}

/// State of a cap.
#[derive(PartialEq, Eq)]
enum CapState {
    Yes,
    No,
}

fn branch(
    node: &LineageAgent,
    depth: usize,
    name: usize,
    push: &mut impl FnMut(String, f64, CapState),
) {
    let who = format!("{}{} {}", "  ".repeat(depth), node.role, node.short);
    let (spent, share) = match node.cap_usd {
        Some(cap) if cap > 0.0 => {
            (format!("{} of {}", money(node.spent_usd), money(cap)), node.spent_usd / cap)
        }
        _ => (money(node.spent_usd), 0.0),
    };
    let over = if share >= 1.0 { CapState::Yes } else { CapState::No };
    push(format!(" {} {}  ", left(&who, name), right(&spent, 20)), share, over);
    for child in &node.children {
        branch(child, depth + 1, name, push);
    }
}
