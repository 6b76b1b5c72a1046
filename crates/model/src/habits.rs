//! Detects agents that repeat themselves: the same call, two alternating calls, the same error.
//!
//! The caller leaves out waiting and polling calls, but reports their errors.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

/// Number of recent calls that are compared.
const MAX_CALLS_COMPARED: usize = 10;
/// Number of recent errors that are compared.
const MAX_ERRORS_COMPARED: usize = 20;
/// Repetitions of one call that warn and that stop.
const REPEATED_CALL_LIMITS: RepetitionLimits = RepetitionLimits { warn: 3, stop: 5 };
/// Alternating pairs of calls that warn and that stop.
const ALTERNATING_CALL_LIMITS: RepetitionLimits = RepetitionLimits { warn: 3, stop: 4 };
/// Repetitions of one error that warn and that stop.
const REPEATED_ERROR_LIMITS: RepetitionLimits = RepetitionLimits { warn: 3, stop: 4 };

/// Repetitions after which an agent is warned and stopped.
#[derive(Debug, Clone, Copy)]
struct RepetitionLimits {
    warn: usize,
    stop: usize,
}

/// Digests of an agent's recent calls and errors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Habits {
    calls: VecDeque<u64>,
    errors: VecDeque<u64>,
    /// Digests that it was already warned about
    warned: Vec<u64>,
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HabitVerdict {
    /// No repetition
    Fine,
    /// Warn the agent, once
    Warn(String),
    /// Stop the agent
    Stop(String),
}

impl Habits {
    /// Records a tool call.
    pub fn called(&mut self, tool: &str, input: &str) -> HabitVerdict {
        let call = digest(&[tool, input]);
        remember(&mut self.calls, call, MAX_CALLS_COMPARED);
        let same = self.calls.iter().filter(|seen| **seen == call).count();
        let pairs = self.pairs();
        let first = self.judge(call, same, REPEATED_CALL_LIMITS, || {
            format!("the same call of `{tool}` {same} times in its last {MAX_CALLS_COMPARED}")
        });
        if first != HabitVerdict::Fine {
            return first;
        }
        self.judge(digest(&["pairs", tool, input]), pairs, ALTERNATING_CALL_LIMITS, || {
            format!("two calls in turn, {pairs} times, the last of them `{tool}`")
        })
    }

    /// A use of a tool went wrong.
    pub fn failed(&mut self, tool: &str, error: &str) -> HabitVerdict {
        let snippet: String = error.chars().take(200).collect();
        let error = digest(&["error", tool, &snippet]);
        remember(&mut self.errors, error, MAX_ERRORS_COMPARED);
        let same = self.errors.iter().filter(|seen| **seen == error).count();
        self.judge(error, same, REPEATED_ERROR_LIMITS, || {
            format!("the same error of `{tool}` {same} times: {snippet}")
        })
    }

    /// Number of times that its last two calls alternated without a break.
    fn pairs(&self) -> usize {
        let mut back = self.calls.iter().rev();
        let (Some(last), Some(before)) = (back.next(), back.next()) else { return 0 };
        if last == before {
            return 0;
        }
        let turns = self.calls.iter().rev().zip([last, before].into_iter().cycle());
        turns.take_while(|(seen, expected)| seen == expected).count() / 2
    }

    fn judge(
        &mut self,
        what: u64,
        count: usize,
        limits: RepetitionLimits,
        why: impl FnOnce() -> String,
    ) -> HabitVerdict {
        if count >= limits.stop {
            return HabitVerdict::Stop(why());
        }
        if count >= limits.warn && !self.warned.contains(&what) {
            if self.warned.len() >= MAX_ERRORS_COMPARED {
                self.warned.remove(0);
            }
            self.warned.push(what);
            return HabitVerdict::Warn(why());
        }
        HabitVerdict::Fine
    }
}

fn remember(seen: &mut VecDeque<u64>, what: u64, most: usize) {
    if seen.len() == most {
        seen.pop_front();
    }
    seen.push_back(what);
}

/// Equal things have equal digests; that is all that is asked of it.
fn digest(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped_at(calls: impl IntoIterator<Item = (&'static str, String)>) -> Option<usize> {
        let mut habits = Habits::default();
        let stops = |(tool, input): (&str, String)| {
            matches!(habits.called(tool, &input), HabitVerdict::Stop(_))
        };
        calls.into_iter().map(stops).position(|stop| stop).map(|at| at + 1)
    }

    #[test]
    fn the_fifth_same_call_is_one_too_many() {
        assert_eq!(stopped_at((0..9).map(|_| ("Bash", "ls".to_owned()))), Some(5));
        assert_eq!(stopped_at((0..99).map(|n| ("Bash", n.to_string()))), None);
    }

    #[test]
    fn two_in_turn_are_stopped_at_the_fourth_pair() {
        let turns = (0..20).map(|n| (["Read", "Edit"][n % 2], "x".to_owned()));
        assert_eq!(stopped_at(turns), Some(8));
    }

    #[test]
    fn the_same_error_four_times_is_enough_and_a_warning_comes_before_it() {
        let mut habits = Habits::default();
        let verdicts: Vec<HabitVerdict> =
            (0..4).map(|_| habits.failed("task_get", "no task")).collect();
        assert_eq!(verdicts[..2], [HabitVerdict::Fine, HabitVerdict::Fine]);
        assert!(matches!(&verdicts[2], HabitVerdict::Warn(why) if why.contains("3 times")));
        assert!(matches!(&verdicts[3], HabitVerdict::Stop(why) if why.contains("no task")));
    }

    #[test]
    fn a_warning_is_given_once() {
        let mut habits = Habits::default();
        let warned =
            (0..4).filter(|_| matches!(habits.called("Bash", "ls"), HabitVerdict::Warn(_))).count();
        assert_eq!(warned, 1);
    }

    #[test]
    fn what_it_remembers_can_be_written_down() {
        let mut habits = Habits::default();
        habits.called("Bash", "ls");
        habits.failed("Bash", "no");
        let text = serde_json::to_string(&habits).unwrap();
        assert_eq!(serde_json::from_str::<Habits>(&text).unwrap(), habits);
    }
}
