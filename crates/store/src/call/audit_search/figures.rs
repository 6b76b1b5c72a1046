//! Statistics over calls: counts, outcomes and durations.
//!
//! Where there are more rows than can be looked at for one answer, the first rows of each block stand
//! for the others, and what is told is an estimate.

use std::collections::HashMap;
use std::ops::ControlFlow;

use model::Timestamp;

use super::{AuditSearch, AuditSearchOrder, CallerCache, RowRange, body};
use crate::call::audit::AuditRow;
use crate::core::error::StoreError;
use crate::core::tx::Tx;

/// Weight of a row that is not a sample.
const WHOLE_WEIGHT: u64 = 1024;
/// Minimum number of rows sampled per block.
const MIN_ROWS_SAMPLED: i64 = 16;

/// Calls, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditCount {
    /// All of them
    pub calls: u64,
    /// Those that failed
    pub failed: u64,
    /// Those that were refused
    pub refused: u64,
}

impl AuditCount {
    fn add(&mut self, row: &AuditRow, refusals: &[&str], weight: u64) {
        self.calls += weight;
        match row.code.as_deref() {
            None => {}
            Some(code) if refusals.contains(&code) => self.refused += weight,
            Some(_) => self.failed += weight,
        }
    }

    fn whole(self) -> Self {
        let Self { calls, failed, refused } = self;
        Self { calls: rounded(calls), failed: rounded(failed), refused: rounded(refused) }
    }
}

fn rounded(weight: u64) -> u64 {
    (weight + WHOLE_WEIGHT / 2) / WHOLE_WEIGHT
}

/// A time that is cut into equal parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditSpan {
    /// When it begins
    pub from: Timestamp,
    /// Length of a part, in milliseconds
    pub step: i64,
    /// Number of parts
    pub parts: usize,
}

impl AuditSpan {
    /// Index of the part that contains a time.
    fn part(&self, at: Timestamp) -> Option<usize> {
        let since = at.as_millis().saturating_sub(self.from.as_millis());
        let part = usize::try_from(since.div_euclid(self.step.max(1))).ok()?;
        (part < self.parts).then_some(part)
    }

    /// The same search within this time.
    fn within(&self, search: &AuditSearch) -> AuditSearch {
        let parts = i64::try_from(self.parts).unwrap_or(i64::MAX);
        let until = self.from.after_millis(self.step.saturating_mul(parts));
        AuditSearch { since: Some(self.from), until: Some(until), ..search.clone() }
    }
}

/// Usage of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFigures {
    /// Its name
    pub tool: String,
    /// Number of calls by outcome
    pub count: AuditCount,
    /// Half of the calls took no longer, in microseconds
    pub p50_micros: u64,
    /// Of a hundred calls ninety-five took no longer
    pub p95_micros: u64,
    /// Number of calls in each part of the period
    pub parts: Vec<u64>,
}

#[derive(Default)]
struct FigureSums {
    count: AuditCount,
    micros: Vec<u64>,
    parts: Vec<u64>,
}

/// The value that so many of a hundred do not exceed: the nearest rank of a sorted list.
fn percentile(sorted: &[u64], hundredths: usize) -> u64 {
    let rank = (sorted.len() * hundredths).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

impl Tx<'_> {
    /// Counts calls over time, and says whether that is an estimate. `refusals` are the codes of those
    /// that were refused. What only began is not counted: its end is.
    pub fn audit_histogram(
        &self,
        search: &AuditSearch,
        span: &AuditSpan,
        refusals: &[&str],
        scan: i64,
    ) -> Result<(Vec<AuditCount>, bool), StoreError> {
        let mut counts = vec![AuditCount::default(); span.parts];
        let estimate = self.audit_sample(&span.within(search), scan, |row, weight| {
            let part = span.part(row.at).and_then(|part| counts.get_mut(part));
            if let Some(count) = part {
                count.add(row, refusals, weight);
            }
        })?;
        Ok((counts.into_iter().map(AuditCount::whole).collect(), estimate))
    }

    /// Says how tools were used, the most used first, and whether that is an estimate.
    pub fn audit_tool_figures(
        &self,
        search: &AuditSearch,
        span: &AuditSpan,
        refusals: &[&str],
        scan: i64,
    ) -> Result<(Vec<ToolFigures>, bool), StoreError> {
        let mut tools: HashMap<String, FigureSums> = HashMap::new();
        let estimate = self.audit_sample(&span.within(search), scan, |row, weight| {
            let tool = tools.entry(row.tool.clone()).or_default();
            tool.count.add(row, refusals, weight);
            tool.micros.push(body::micros(&row.body));
            tool.parts.resize(span.parts, 0);
            let part = span.part(row.at).and_then(|part| tool.parts.get_mut(part));
            if let Some(part) = part {
                *part += weight;
            }
        })?;
        let figures = |(tool, mut seen): (String, FigureSums)| {
            seen.micros.sort_unstable();
            ToolFigures {
                tool,
                count: seen.count.whole(),
                p50_micros: percentile(&seen.micros, 50),
                p95_micros: percentile(&seen.micros, 95),
                parts: seen.parts.into_iter().map(rounded).collect(),
            }
        };
        let mut all: Vec<ToolFigures> = tools.into_iter().map(figures).collect();
        all.sort_by(|a, b| b.count.calls.cmp(&a.count.calls).then_with(|| a.tool.cmp(&b.tool)));
        Ok((all, estimate))
    }

    /// Goes through such calls, or through a part that stands for all of them; says whether it was a
    /// part. Each comes with its weight in parts of [`WHOLE_WEIGHT`].
    fn audit_sample(
        &self,
        search: &AuditSearch,
        scan: i64,
        mut each: impl FnMut(&AuditRow, u64),
    ) -> Result<bool, StoreError> {
        let Some(range) = self.audit_range(search)? else { return Ok(false) };
        let ranges = self.audit_ranges(search, range)?;
        let all: i64 = ranges.iter().copied().map(RowRange::len).sum();
        let blocks = i64::try_from(ranges.len()).unwrap_or(i64::MAX).max(1);
        let estimate = all > scan;
        // So many rows of a block, and of so many blocks one.
        let most = if estimate { (scan / blocks).max(MIN_ROWS_SAMPLED) } else { i64::MAX };
        let every = if estimate { (blocks * most).div_euclid(scan.max(1)).max(1) } else { 1 };
        let mut callers = CallerCache::new(self);
        for chunk in ranges.chunks(usize::try_from(every).unwrap_or(1)) {
            let Some(&sampled) = chunk.first() else { continue };
            let stands_for: i64 = chunk.iter().copied().map(RowRange::len).sum();
            let looked = sampled.len().min(most);
            let weight = u64::try_from(stands_for).unwrap_or(0) * WHOLE_WEIGHT
                / u64::try_from(looked).unwrap_or(1).max(1);
            let part = RowRange { last: sampled.first + looked - 1, ..sampled };
            let flow = self.audit_each(search, AuditSearchOrder::Oldest, part, |row| {
                if !body::is_begun(&row.body) && callers.fit(search, &row)? {
                    each(&row, weight);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if flow.is_break() {
                break;
            }
        }
        Ok(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_values() {
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(percentile(&[7], 95), 7);
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 50), percentile(&hundred, 95)), (50, 95));
        assert_eq!(percentile(&[1, 2, 3], 50), 2);
    }
}
