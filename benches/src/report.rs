//! What is said: the figures, their ratios, and the goals.

use std::io::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use crate::Scale;
use crate::goals::Figures;

/// Says a line.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout();
    // With nobody there to read it, there is nobody to tell that it failed.
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

/// Prints everything.
pub(crate) fn print(figures: &Figures, scale: &Scale) {
    let mut table =
        new_table(&["", "face", "tool", "clients", "calls/s", "p50 µs", "p99 µs", "× rmcp"]);
    for cell in &figures.cells {
        let ratio = figures.beside_rmcp(cell.rate, cell.clients);
        table.add_row([
            cell.place.name().to_owned(),
            cell.face.path().to_owned(),
            cell.tool.to_owned(),
            cell.clients.to_string(),
            format!("{:.0}", cell.rate.per_second),
            cell.rate.p50.to_string(),
            cell.rate.p99.to_string(),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]);
    }
    align_right(&mut table, 3..8);
    say(&format!("\n{table}\n"));
    say(&format!(
        "The full store has {} tasks and {} audit rows. Memory was looked at after {} calls.\n",
        scale.filling.tasks, scale.filling.rows, scale.calls
    ));

    let mut table = new_table(&["goal", "wanted", "found", ""]);
    for goal in figures.goals() {
        let verdict = if goal.is_met { "met" } else { "MISSED" };
        table.add_row([goal.wish, goal.bound, goal.found, verdict.to_owned()]);
    }
    align_right(&mut table, 1..3);
    say(&format!("{table}"));
}

fn new_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    table
}

fn align_right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}
