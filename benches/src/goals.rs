//! What we want the figures to be, and whether they are.

use crate::agents::AgentCost;
use crate::cells::{DECIDE, ECHO, Figure, LIST, SEND, STATUS, TOOLS, Target};
use crate::drafts::CLIENTS;
use crate::echo::Echo;
use crate::ledger::{LedgerCost, LogPlace, MessageRate};
use crate::load::Rate;
use crate::start::StartTimes;
use crate::watch::{EVENTS_PER_SECOND, WatchingCost};
use crate::wire::Endpoint;
use crate::worktrees::WorktreeCost;

/// Everything that was measured; what was left out is not there.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// Calls
    pub(crate) calls: Option<Calls>,
    /// Agents that run
    pub(crate) agents: Option<AgentCost>,
    /// Their worktrees
    pub(crate) worktrees: Option<WorktreeCost>,
    /// Those who watch
    pub(crate) watch: Option<WatchingCost>,
    /// A log in PostgreSQL
    pub(crate) ledger: Option<LedgerCost>,
}

/// What was measured of calls.
#[derive(Debug)]
pub(crate) struct Calls {
    /// Calls
    pub(crate) cells: Vec<Figure>,
    /// Memory before the first call, in megabytes
    pub(crate) at_rest: f64,
    /// Memory after many calls, in megabytes
    pub(crate) afterwards: f64,
    /// Starts of `adjutant mcp`
    pub(crate) starts: StartTimes,
}

/// A request and what became of it.
#[derive(Debug)]
pub(crate) struct GoalCheck {
    /// Name of the goal
    pub(crate) name: String,
    /// What it should be
    pub(crate) bound: String,
    /// What it is
    pub(crate) found: String,
    /// Whether that is enough
    pub(crate) is_met: bool,
}

impl GoalCheck {
    fn at_least(name: String, bound: f64, found: f64) -> Self {
        Self {
            name,
            bound: format!("≥ {bound}"),
            found: format!("{found:.2}"),
            is_met: found >= bound,
        }
    }

    fn at_most(name: String, bound: f64, found: f64, unit: &str) -> Self {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        Self {
            name,
            bound: format!("≤ {bound}{unit}"),
            found: format!("{found:.2}{unit}"),
            is_met: found <= bound,
        }
    }
}

impl Figures {
    /// Every goal.
    pub(crate) fn goals(&self) -> Vec<GoalCheck> {
        let mut goals = self.calls.as_ref().map(Calls::goals).unwrap_or_default();
        goals.extend(self.agents.iter().flat_map(AgentCost::goals));
        goals.extend(self.worktrees.iter().flat_map(WorktreeCost::goals));
        goals.extend(self.watch.iter().flat_map(WatchingCost::goals));
        goals.extend(self.ledger.iter().flat_map(LedgerCost::goals));
        goals
    }
}

impl LedgerCost {
    fn goals(&self) -> Vec<GoalCheck> {
        let bound = |rate: &MessageRate| match (rate.place, rate.clients) {
            (LogPlace::Network, 1) => Some(500.0),
            (LogPlace::Network, 16) | (LogPlace::Standby, 64) => Some(3_000.0),
            (LogPlace::Network, 64) => Some(4_000.0),
            (LogPlace::Standby, 1) => Some(200.0),
            (LogPlace::Standby, 16) => Some(2_000.0),
            _ => None,
        };
        let goal = |rate: &MessageRate| {
            let name = format!("letters a second, {}, {} clients", rate.place.name(), rate.clients);
            bound(rate).map(|bound| GoalCheck::at_least(name, bound, rate.per_second))
        };
        let mut goals: Vec<GoalCheck> = self.rates.iter().filter_map(goal).collect();
        let name = "operations replayed a second".to_owned();
        goals.push(GoalCheck::at_least(name, 10_000.0, self.replayed));
        let name = format!("a snapshot of {:.0} MB restored", self.snapshot);
        goals.push(GoalCheck::at_most(name, self.snapshot / 20.0, self.restored, "s"));
        goals
    }
}

impl WatchingCost {
    fn goals(&self) -> Vec<GoalCheck> {
        let name = |what: &str| {
            format!("{EVENTS_PER_SECOND} events a second, {} watch, {what}", self.watchers)
        };
        let number = |many: i64| f64::from(u32::try_from(many).unwrap_or(u32::MAX));
        let (lost, disorder) = (number(self.lost), number(self.disorder));
        vec![
            GoalCheck::at_least(name("reached"), f64::from(EVENTS_PER_SECOND) * 0.98, self.rate),
            GoalCheck::at_most(name("lost"), 0.0, lost, ""),
            GoalCheck::at_most(name("out of order"), 0.0, disorder, ""),
            GoalCheck::at_most(name("delay, p99"), 100.0, self.delay.p99, "ms"),
            GoalCheck::at_most(name("more memory"), 50.0, self.after - self.before, "MB"),
        ]
    }
}

impl AgentCost {
    fn goals(&self) -> Vec<GoalCheck> {
        let Self { drafts, supervisor, waits, .. } = self;
        let most = |name: &str, bound: f64, found: f64, unit: &str| {
            GoalCheck::at_most(name.to_owned(), bound, found, unit)
        };
        let more = drafts.first.p50 - drafts.plain.p50;
        let mut goals = vec![
            most("draft to first output, p50 more than plain fork and exec", 10.0, more, "ms"),
            GoalCheck::at_least(format!("starts a second, {CLIENTS} clients"), 300.0, drafts.rate),
            // The pages of the program's file are there once for all who run it, also for the server.
            most("a supervisor's memory (Pss)", 4.0, supervisor.proportional, "MB"),
        ];
        for waits in waits {
            let name = |what: &str| format!("calls that wait over {}, {what}", waits.face.path());
            goals.push(GoalCheck::at_most(name("more memory"), 100.0, waits.growth, "MB"));
            goals.push(GoalCheck::at_most(name("use of a core"), 5.0, waits.load, "%"));
            let (alone, at_once) = (waits.alone.max, waits.at_once.max);
            goals.push(GoalCheck::at_most(name("the last hears of one end"), 50.0, alone, "ms"));
            goals.push(GoalCheck::at_most(name("the last hears of all ends"), 50.0, at_once, "ms"));
        }
        goals
    }
}

impl WorktreeCost {
    fn goals(&self) -> Vec<GoalCheck> {
        let most = |name: &str, more: f64| GoalCheck::at_most(name.to_owned(), 100.0, more, "ms");
        let alone = self.alone.p99 - self.plain_alone.p99;
        let at_once = self.ours.p50 - self.plain.p50;
        vec![
            most("a worktree, p99 more than git alone", alone),
            most("a worktree of 40 at once, p50 more than git alone", at_once),
        ]
    }
}

impl Calls {
    fn find(&self, place: Target, tool: &str, clients: usize) -> Option<Rate> {
        let mut cells = self.cells.iter();
        let is_it = |cell: &&Figure| {
            cell.place == place
                && cell.face == Endpoint::Mcp
                && cell.tool == tool
                && cell.clients == clients
        };
        cells.find(is_it).map(|cell| cell.rate)
    }

    /// How fast a cell is beside the bare rmcp with as many clients.
    pub(crate) fn beside_rmcp(&self, rate: Rate, clients: usize) -> Option<f64> {
        let echo = self.find(Target::Echo(Echo::Rmcp), ECHO, clients)?;
        Some(rate.per_second / echo.per_second)
    }

    fn goals(&self) -> Vec<GoalCheck> {
        let mut goals = Vec::new();
        for (tool, bound) in [(STATUS, 0.8), (LIST, 0.8), (DECIDE, 0.5), (SEND, 0.5)] {
            let found =
                self.find(Target::Empty, tool, 16).and_then(|rate| self.beside_rmcp(rate, 16));
            if let Some(found) = found {
                let name = format!("{tool} at 16 clients, beside bare rmcp");
                goals.push(GoalCheck::at_least(name, bound, found));
            }
        }
        for tool in [DECIDE, SEND] {
            let rate = |clients| self.find(Target::Empty, tool, clients);
            if let (Some(one), Some(many)) = (rate(1), rate(16)) {
                let name = format!("{tool} at 16 clients, beside 1");
                goals.push(GoalCheck::at_least(name, 5.0, many.per_second / one.per_second));
            }
        }
        for tool in TOOLS {
            for clients in [1, 16] {
                let rate = |place| self.find(place, tool, clients);
                if let (Some(empty), Some(full)) = (rate(Target::Empty), rate(Target::Full)) {
                    let name =
                        format!("{tool} at {clients}, p50 with the full store beside the empty");
                    let found = f64::from(full.p50) / f64::from(empty.p50);
                    goals.push(GoalCheck::at_most(name, 1.2, found, ""));
                }
            }
        }
        let mut bound = |name: &str, most: f64, found: f64, unit: &str| {
            goals.push(GoalCheck::at_most(name.to_owned(), most, found, unit));
        };
        bound("`adjutant mcp` to `tools/list`, server up", 10.0, self.starts.warm, "ms");
        bound("`adjutant mcp` to `tools/list`, server down", 100.0, self.starts.cold, "ms");
        bound("memory at rest", 24.0, self.at_rest, "MB");
        bound("memory after the calls", 40.0, self.afterwards, "MB");
        goals
    }
}
