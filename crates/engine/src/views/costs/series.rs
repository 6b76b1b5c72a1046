//! Spending over time by group.

use std::collections::HashMap;

use model::money::Usd;
use model::{AgentId, TaskRef, Timestamp};
use store::{SpendBy, SpendPoint, TimeSpan, Tokens, Tx};
use wire::costs::{
    CostGrouping, CostSeries, CostSeriesKey, CostSeriesPoint, KeySpending, Spending,
};

use crate::core::error::ToolError;
use crate::views::costs::chosen;
use crate::views::period::Period;
use crate::views::service::Views;

pub(super) const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// Longest period in steps of an hour; a longer one has steps of a day.
const MAX_HOURLY_PERIOD: i64 = 3 * DAY;
/// Longest period of a plot.
const MAX_PERIOD: i64 = 400 * DAY;
/// Groups shown by name; the rest is added up.
const NAMED_GROUPS: usize = 5;
/// The key of the rest.
const OTHER: &str = "other";

/// By what a plot is cut.
#[derive(Debug, Clone, Copy)]
enum CutBy {
    Sum(SpendBy),
    Lineage,
}

const BY: [(&str, (CostGrouping, CutBy)); 4] = [
    ("role", (CostGrouping::Role, CutBy::Sum(SpendBy::Role))),
    ("model", (CostGrouping::Model, CutBy::Sum(SpendBy::Model))),
    ("task", (CostGrouping::Task, CutBy::Sum(SpendBy::Task))),
    ("lineage", (CostGrouping::Lineage, CutBy::Lineage)),
];

/// A sum that grows.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    money: Usd,
    tokens: Tokens,
}

impl Sum {
    fn add(&mut self, point: &SpendPoint) {
        self.money += point.money;
        self.tokens += point.tokens;
    }

    fn value(self) -> Spending {
        Spending { usd: self.money.dollars(), tokens: self.tokens.all() }
    }
}

/// Beginning and end of a period, from a whole hour on.
pub(super) fn hours_of(
    period: Period,
    now: Timestamp,
) -> Result<(Timestamp, Timestamp), ToolError> {
    let to = period.until.unwrap_or_else(|| now.after_millis(1));
    let from = period.since.unwrap_or_else(|| to.after_millis(-DAY));
    if from >= to {
        return Err(ToolError::invalid("`until` must be after `since`").detail("field", "until"));
    }
    if to.millis_since(from) > MAX_PERIOD {
        let error = ToolError::invalid("`since` is too long ago: at most 400 days are added up");
        return Err(error.detail("field", "since"));
    }
    Ok((Timestamp::from_millis(from.as_millis().div_euclid(HOUR) * HOUR), to))
}

/// A name for people.
fn label_of(tx: &Tx<'_>, by: CutBy, key: &str) -> Result<String, ToolError> {
    Ok(match by {
        CutBy::Sum(SpendBy::Task) if key == "-" => "no task".to_owned(),
        CutBy::Sum(SpendBy::Task) => {
            let task = tx.task_find(&TaskRef::Slug(key.to_owned()))?;
            task.map_or_else(|| key.to_owned(), |t| format!("TAS-{} {}", t.number, t.title))
        }
        CutBy::Lineage => {
            let id = key.parse::<AgentId>().ok();
            let agent = id.map(|id| tx.agent_get(id)).transpose()?.flatten();
            let short: String = key.chars().skip(14).collect();
            agent.map_or_else(|| key.to_owned(), |agent| format!("{} {short}", agent.role))
        }
        CutBy::Sum(_) => key.to_owned(),
    })
}

/// The dearest, and what was spent on each; the rest comes last.
fn ranked(points: &[SpendPoint]) -> Vec<(String, Sum)> {
    let mut sums: HashMap<&str, Sum> = HashMap::new();
    for point in points {
        sums.entry(&point.key).or_default().add(point);
    }
    let mut all: Vec<(String, Sum)> =
        sums.into_iter().map(|(key, sum)| (key.to_owned(), sum)).collect();
    // Where nobody knows what anything costs, tokens tell what is dear.
    all.sort_by(|(a, x), (b, y)| {
        y.money.cmp(&x.money).then(y.tokens.all().cmp(&x.tokens.all())).then(a.cmp(b))
    });
    if all.len() > NAMED_GROUPS + 1 {
        let mut other = Sum::default();
        for (_, sum) in all.split_off(NAMED_GROUPS) {
            other.money += sum.money;
            other.tokens += sum.tokens;
        }
        all.push((OTHER.to_owned(), other));
    }
    all
}

fn series(
    tx: &Tx<'_>,
    name: &str,
    from: Timestamp,
    to: Timestamp,
) -> Result<CostSeries, ToolError> {
    let (grouping, by) = chosen(name, &BY)?;
    let points = match by {
        CutBy::Sum(by) => tx.spend_points(by, TimeSpan { from, to })?,
        CutBy::Lineage => tx.spend_points_by_lineage(TimeSpan { from, to })?,
    };
    let step = if to.millis_since(from) > MAX_HOURLY_PERIOD { DAY } else { HOUR };
    let steps = (to.millis_since(from) + step - 1) / step;
    let ranked = ranked(&points);
    let place: HashMap<&str, usize> =
        ranked.iter().enumerate().map(|(n, (key, _))| (key.as_str(), n)).collect();
    let rest = ranked.len().saturating_sub(1);
    let mut sums: HashMap<(i64, usize), Sum> = HashMap::new();
    let mut total = Sum::default();
    for point in &points {
        let at = point.hour.millis_since(from) / step;
        let key = place.get(point.key.as_str()).copied().unwrap_or(rest);
        sums.entry((at, key)).or_default().add(point);
        total.add(point);
    }
    let point = |at: i64| CostSeriesPoint {
        from: from.after_millis(at * step),
        values: ranked
            .iter()
            .enumerate()
            .filter_map(|(n, (key, _))| {
                let spent = sums.get(&(at, n))?.value();
                Some(KeySpending { key: key.clone(), spent })
            })
            .collect(),
    };
    let points = (0..steps).map(point).collect();
    let mut keys = Vec::new();
    for (key, sum) in &ranked {
        let label = if key == OTHER { key.clone() } else { label_of(tx, by, key)? };
        keys.push(CostSeriesKey { key: key.clone(), label, spent: sum.value() });
    }
    let to = from.after_millis(steps * step);
    Ok(CostSeries { by: grouping, from, to, step, keys, points, total: total.value() })
}

impl Views {
    /// Adds up spending over time by role, model, task or lineage.
    pub async fn costs_series(
        &self,
        by: Option<&str>,
        period: Period,
    ) -> Result<CostSeries, ToolError> {
        let by = by.unwrap_or("role").to_owned();
        chosen(&by, &BY)?;
        let (from, to) = hours_of(period, self.now())?;
        self.store.scan(move |tx| series(tx, &by, from, to)).await
    }
}
