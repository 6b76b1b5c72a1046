//! What is said: the figures, their ratios, and the goals.

use std::io::Write as _;

use comfy_table::{CellAlignment, Table, presets};

use crate::Scale;
use crate::agents::AgentCost;
use crate::drafts::{CLIENTS, Percentiles};
use crate::goals::{Calls, Figures};
use crate::ledger::LedgerCost;
use crate::rest::SUPERVISORS;
use crate::waits::WAITS_PER_AGENT;
use crate::watch::WatchingCost;
use crate::worktrees::{WORKTREES_AT_ONCE, WORKTREES_REMOVED, WorktreeCost};

/// Says a line.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout();
    // With nobody there to read it, there is nobody to tell that it failed.
    drop(writeln!(out, "{line}").and_then(|()| out.flush()));
}

/// Prints everything.
pub(crate) fn print(figures: &Figures, scale: &Scale) {
    if let Some(calls) = &figures.calls {
        print_calls(calls, scale);
    }
    if let Some(agents) = &figures.agents {
        print_agents(agents, scale);
    }
    if let Some(worktrees) = &figures.worktrees {
        print_worktrees(worktrees);
    }
    if let Some(watch) = &figures.watch {
        print_watch(watch, scale);
    }
    if let Some(ledger) = &figures.ledger {
        print_ledger(ledger);
    }

    let mut table = new_table(&["goal", "wanted", "found", ""]);
    for goal in figures.goals() {
        let verdict = if goal.is_met { "met" } else { "MISSED" };
        table.add_row([goal.name, goal.bound, goal.found, verdict.to_owned()]);
    }
    align_right(&mut table, 1..3);
    say(&format!("{table}"));
}

fn print_homes(figures: &LedgerCost) {
    let mut table = new_table(&["homes in one PostgreSQL", "found"]);
    let mut row = |what: String, found: String| {
        table.add_row([what, found]);
    };
    for rate in &figures.commits {
        let what = format!("commits of {} homes, one client each", rate.homes);
        let found =
            format!("{:.0}/s, {:.0} bytes of its log each", rate.per_second, rate.wal_bytes);
        row(what, found);
    }
    if let Some(home) = &figures.home {
        row("log of a call".into(), format!("{:.0} bytes", home.log_bytes));
        row("the same, stored".into(), format!("{:.0} bytes", home.stored_bytes));
        row("calls a commit, 16 clients".into(), format!("{:.1}", home.calls_per_commit));
        row("processor time of a call".into(), format!("{:.2} ms", home.processor));
        row("at rest, renewals of the lease".into(), format!("{:.2}/s", home.renewals));
        row("at rest, commits".into(), format!("{:.2}/s", home.idle_commits));
        row("at rest, use of a core".into(), format!("{:.1} %", home.load));
        row("connections of the owner".into(), format!("{:.0}", home.connections));
        row("memory of the owner".into(), format!("{:.1} MB", home.memory));
    }
    align_right(&mut table, 1..2);
    say(&format!("\n{table}\n"));
}

fn print_ledger(figures: &LedgerCost) {
    print_homes(figures);
    let mut table = new_table(&["log", "clients", "letters/s"]);
    for rate in &figures.rates {
        table.add_row([
            rate.place.name().to_owned(),
            rate.clients.to_string(),
            format!("{:.0}", rate.per_second),
        ]);
    }
    align_right(&mut table, 1..3);
    say(&format!("{table}"));
}

fn print_calls(figures: &Calls, scale: &Scale) {
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
}

fn print_agents(agents: &AgentCost, scale: &Scale) {
    let AgentCost { drafts, supervisor, rest, waits } = agents;
    let mut table = new_table(&["agents that run", "plain fork and exec", "Adjutant"]);
    let mut row = |what: String, plain: String, ours: String| {
        table.add_row([what, plain, ours]);
    };
    row("to first output, one by one".into(), spread(drafts.plain), spread(drafts.first));
    row("to the result, one by one".into(), String::new(), spread(drafts.whole));
    let rate = |rate: f64| format!("{rate:.0}/s");
    row(format!("starts, {CLIENTS} clients"), rate(drafts.plain_rate), rate(drafts.rate));
    row(format!("whole lives, {CLIENTS} clients"), String::new(), rate(drafts.whole_rate));
    let (all, share) = (supervisor.resident, supervisor.proportional);
    let memory = format!("VmRSS {all:.2} MB, Pss {share:.2} MB");
    row(format!("a supervisor at rest, the most of {SUPERVISORS}"), String::new(), memory);
    let cost = |growth: f64, load: f64| format!("{growth:.1} MB more, {load:.1} % of a core");
    let resting = scale.resting;
    row(format!("server, {resting} at rest"), String::new(), cost(rest.growth, rest.load));
    for waits in waits {
        let (count, face) = (resting * WAITS_PER_AGENT, waits.face.path());
        let what = format!("server, {count} calls wait over {face}");
        row(what, String::new(), cost(waits.growth, waits.load));
        let wakes = |Percentiles { p50, p99, max }| {
            format!("p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms")
        };
        row("from the end of one to its answers".into(), String::new(), wakes(waits.alone));
        row("from the end of all at once".into(), String::new(), wakes(waits.at_once));
    }
    align_right(&mut table, 1..3);
    say(&format!("\n{table}\n"));
}

fn print_worktrees(worktrees: &WorktreeCost) {
    let mut table = new_table(&["worktrees", "git worktree add", "Adjutant"]);
    let mut row = |what: String, plain: String, ours: String| {
        table.add_row([what, plain, ours]);
    };
    row("one by one".into(), spread(worktrees.plain_alone), spread(worktrees.alone));
    let at_once = format!("{WORKTREES_AT_ONCE} at once");
    row(at_once.clone(), spread(worktrees.plain), spread(worktrees.ours));
    let ready = format!("{}, all in {:.1} s", spread(worktrees.ready), worktrees.all_ready_s);
    row(format!("{at_once}, with set-up, copy and link"), String::new(), ready);
    let removal = format!("{:.1} s", worktrees.removal_s);
    row(format!("removing {WORKTREES_REMOVED} with changes"), String::new(), removal);
    align_right(&mut table, 1..3);
    say(&format!("\n{table}\n"));
}

fn spread(of: Percentiles) -> String {
    format!("p50 {:.2} ms, p99 {:.2} ms", of.p50, of.p99)
}

fn print_watch(watch: &WatchingCost, scale: &Scale) {
    let WatchingCost { watchers, events, rate, lost, disorder, delay, load, before, after } = watch;
    let mut table = new_table(&["events that are watched", "found"]);
    let mut row = |what: String, found: String| {
        table.add_row([what, found]);
    };
    let seconds = scale.watch.as_secs();
    row(
        format!("told in {seconds} s to {watchers} who watch, one of them stopped"),
        format!("{events}, {rate:.0}/s"),
    );
    row("lost, of all who watch".into(), lost.to_string());
    row("out of order or twice".into(), disorder.to_string());
    let Percentiles { p50, p99, max } = delay;
    let delay = format!("p50 {p50:.1} ms, p99 {p99:.1} ms, max {max:.1} ms");
    row("from its time to who watches".into(), delay);
    row("server, use of a core".into(), format!("{load:.0} %"));
    row("server, memory before and after".into(), format!("{before:.1} MB, {after:.1} MB"));
    align_right(&mut table, 1..2);
    say(&format!("\n{table}\n"));
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
