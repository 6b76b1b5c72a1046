//! `adjutant costs`: spending, and use of tools.

use clap::ValueEnum as _;
use model::Timestamp;
use wire::costs::{CostGrouping, CostRow, CostTotal, Costs};
use wire::usage::{ToolUsage, ToolUsageRow};

use crate::app::{App, now, query};
use crate::cli::CostsArgs;
use crate::cli_error::CliError;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{cell, dollars, shown, span, table, tokens};

/// Shows spending, or use of tools.
pub(crate) async fn run(app: &App, args: &CostsArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    if args.tools {
        let agent = steady.agent_if(args.agent.as_deref()).await?;
        let usage = steady.fetch::<ToolUsage>(&query("/api/usage", [("agent", agent)])).await?;
        return Ok(app.render.answer(&usage, || usage_table(&usage))?);
    }
    let since = args.since.as_deref().map(|since| moment(since, now())).transpose()?;
    let by = args.by.to_possible_value().map(|by| by.get_name().to_owned());
    let pairs = [("by", by), ("since", since.map(|since| since.to_string()))];
    let costs = steady.fetch::<Costs>(&query("/api/costs", pairs)).await?;
    Ok(app.render.answer(&costs, || costs_table(&costs))?)
}

/// A point in time: a day, a time, or how long ago.
fn moment(given: &str, now: Timestamp) -> Result<Timestamp, CliError> {
    let ago = || {
        let unit = given.chars().last()?;
        let seconds = match unit {
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        let count: u32 = given.strip_suffix(unit)?.parse().ok()?;
        let at = now.after_seconds(-(i64::from(count) * seconds));
        // What lies before the calendar cannot be written down.
        at.to_string().parse().ok()
    };
    let time = || given.parse().ok();
    let day = || format!("{given}T00:00:00Z").parse().ok();
    ago().or_else(time).or_else(day).ok_or_else(|| {
        CliError::usage(format!("`{given}` is not a time"))
            .hint("pass a day such as 2026-11-15, or an age such as 7d, 12h or 30m")
    })
}

fn costs_table(costs: &Costs) -> String {
    if costs.rows.is_empty() {
        return match costs.since {
            Some(since) => format!("Nothing was spent since {since}."),
            None => "Nothing was spent yet.".to_owned(),
        };
    }
    let cells = |key: String, sum: &CostTotal| {
        let used = &sum.tokens;
        [
            key,
            sum.agents.to_string(),
            dollars(sum.cost_usd),
            tokens(used.input),
            tokens(used.output),
            tokens(used.cache_read + used.cache_write),
        ]
    };
    let row = |row: &CostRow| {
        let key = if costs.by == CostGrouping::Hour { hour(&row.key) } else { cell(&row.key, 30) };
        cells(key, &row.spent)
    };
    let heading = shown(&costs.by).to_uppercase();
    let headings = [heading.as_str(), "AGENTS", "COST", "INPUT", "OUTPUT", "CACHED"];
    let total = cells("total".to_owned(), &costs.total);
    table(headings, costs.rows.iter().map(row).chain([total]))
}

/// `2026-11-15T09:00:00.000Z` as people write it.
fn hour(at: &str) -> String {
    at.get(..16).map_or_else(|| at.to_owned(), |at| at.replace('T', " "))
}

fn usage_table(usage: &ToolUsage) -> String {
    if usage.rows.is_empty() {
        return "No tool was used yet.".to_owned();
    }
    let row = |row: &ToolUsageRow| {
        [
            cell(&row.key, 20),
            cell(&row.tool, 36),
            row.calls.to_string(),
            row.errors.to_string(),
            mean(row.mean_ms),
        ]
    };
    let heading = shown(&usage.by).to_uppercase();
    let headings = [heading.as_str(), "TOOL", "CALLS", "ERRORS", "MEAN"];
    table(headings, usage.rows.iter().map(row))
}

#[expect(clippy::cast_possible_truncation, reason = "a figure for people")]
fn mean(millis: f64) -> String {
    span(millis.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_is_given_in_three_ways() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let told = |given: &str| moment(given, now).map(|at| at.to_string());
        assert_eq!(told("7d").unwrap(), "2026-11-08T12:00:00.000Z");
        assert_eq!(told("90m").unwrap(), "2026-11-15T10:30:00.000Z");
        assert_eq!(told("2026-11-01").unwrap(), "2026-11-01T00:00:00.000Z");
        assert_eq!(told("2026-11-01T10:00:00Z").unwrap(), "2026-11-01T10:00:00.000Z");
        for wrong in ["yesterday", "d", "-1d", "7", "", "4294967295w", "99999999999d"] {
            assert!(told(wrong).is_err(), "{wrong}");
        }
    }
}
