//! `adjutant costs`: what was spent, and which tools were used.

use clap::ValueEnum as _;
use model::Timestamp;
use serde_json::Value;

use crate::app::{App, now, query};
use crate::cli::CostsArgs;
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{cell, field, line, money, span, table, tokens};

/// Shows what was spent, or which tools were used.
pub(crate) async fn run(app: &App, args: &CostsArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    if args.tools {
        let agent = match &args.agent {
            Some(named) => Some(steady.agent(named).await?),
            None => None,
        };
        let usage = steady.get(&query("/api/usage", [("agent", agent)])).await?;
        return Ok(app.render.answer(&usage, || used(&usage))?);
    }
    let since = args.since.as_deref().map(|since| moment(since, now())).transpose()?;
    let by = args.by.to_possible_value().map(|by| by.get_name().to_owned());
    let pairs = [("by", by), ("since", since.map(|since| since.to_string()))];
    let costs = steady.get(&query("/api/costs", pairs)).await?;
    Ok(app.render.answer(&costs, || spent(&costs))?)
}

/// A point in time: a day, a time, or how long ago.
fn moment(given: &str, now: Timestamp) -> Result<Timestamp, Trouble> {
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
        Trouble::usage(format!("`{given}` is not a time"))
            .hint("pass a day such as 2026-11-15, or an age such as 7d, 12h or 30m")
    })
}

fn spent(costs: &Value) -> String {
    let rows = costs["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        let since = costs["since"].as_str();
        return match since {
            Some(since) => format!("Nothing was spent since {}.", line(since)),
            None => "Nothing was spent yet.".to_owned(),
        };
    }
    let by = field(costs, "by");
    let cells = |key: String, sum: &Value| {
        let count = |key: &str| sum["tokens"][key].as_u64().unwrap_or_default();
        [
            key,
            field(sum, "agents"),
            money(&sum["costUsd"]).unwrap_or_else(|| "-".to_owned()),
            tokens(count("input")),
            tokens(count("output")),
            tokens(count("cacheRead") + count("cacheWrite")),
        ]
    };
    let row = |row: &Value| {
        let key = field(row, "key");
        let key = if by == "hour" { hour(&key) } else { cell(&key, 30) };
        cells(key, row)
    };
    let heading = by.to_uppercase();
    let headings = [heading.as_str(), "AGENTS", "COST", "INPUT", "OUTPUT", "CACHED"];
    let total = cells("total".to_owned(), &costs["total"]);
    table(headings, rows.iter().map(row).chain([total]))
}

/// `2026-11-15T09:00:00.000Z` as people write it.
fn hour(at: &str) -> String {
    at.get(..16).map_or_else(|| at.to_owned(), |at| at.replace('T', " "))
}

fn used(usage: &Value) -> String {
    let rows = usage["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return "No tool was used yet.".to_owned();
    }
    let row = |row: &Value| {
        [
            cell(&field(row, "key"), 20),
            cell(&field(row, "tool"), 36),
            field(row, "calls"),
            field(row, "errors"),
            mean(&row["meanMs"]),
        ]
    };
    let heading = field(usage, "by").to_uppercase();
    table([heading.as_str(), "TOOL", "CALLS", "ERRORS", "MEAN"], rows.iter().map(row))
}

#[expect(clippy::cast_possible_truncation, reason = "a figure for people")]
fn mean(millis: &Value) -> String {
    millis.as_f64().map_or_else(|| "-".to_owned(), |millis| span(millis.round() as i64))
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
