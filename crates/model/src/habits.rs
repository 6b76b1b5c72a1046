//! Whether an agent goes round in circles: the same call, two calls in turn, the same error.
//!
//! Waiting and polling are not circles; whoever feeds this leaves them out, and tells of their errors.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

/// How many calls are looked at.
const CALLS: usize = 10;
/// How many errors are looked at.
const ERRORS: usize = 20;
/// The same call: warned, stopped.
const SAME: (usize, usize) = (3, 5);
/// Two calls in turn, counted in pairs: warned, stopped.
const PAIRS: (usize, usize) = (3, 4);
/// The same error: warned, stopped.
const FAILED: (usize, usize) = (3, 4);

/// What an agent did lately.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Habits {
    calls: VecDeque<u64>,
    errors: VecDeque<u64>,
    /// What it was warned of already
    warned: Vec<u64>,
}

/// What to think of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing
    Fine,
    /// It is to be told, once
    Warn(String),
    /// It is to be stopped
    Stop(String),
}

impl Habits {
    /// It used a tool.
    pub fn called(&mut self, tool: &str, input: &str) -> Verdict {
        let call = digest(&[tool, input]);
        remember(&mut self.calls, call, CALLS);
        let same = self.calls.iter().filter(|seen| **seen == call).count();
        let pairs = self.pairs();
        let first = self.judge(call, same, SAME, || {
            format!("the same call of `{tool}` {same} times in its last {CALLS}")
        });
        if first != Verdict::Fine {
            return first;
        }
        self.judge(digest(&["pairs", tool, input]), pairs, PAIRS, || {
            format!("two calls in turn, {pairs} times, the last of them `{tool}`")
        })
    }

    /// A use of a tool went wrong.
    pub fn failed(&mut self, tool: &str, error: &str) -> Verdict {
        let snippet: String = error.chars().take(200).collect();
        let error = digest(&["error", tool, &snippet]);
        remember(&mut self.errors, error, ERRORS);
        let same = self.errors.iter().filter(|seen| **seen == error).count();
        self.judge(error, same, FAILED, || {
            format!("the same error of `{tool}` {same} times: {snippet}")
        })
    }

    /// How many times its last two calls alternated without a break.
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
        (warn, stop): (usize, usize),
        why: impl FnOnce() -> String,
    ) -> Verdict {
        if count >= stop {
            return Verdict::Stop(why());
        }
        if count >= warn && !self.warned.contains(&what) {
            if self.warned.len() >= ERRORS {
                self.warned.remove(0);
            }
            self.warned.push(what);
            return Verdict::Warn(why());
        }
        Verdict::Fine
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
        let stops =
            |(tool, input): (&str, String)| matches!(habits.called(tool, &input), Verdict::Stop(_));
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
        let verdicts: Vec<Verdict> = (0..4).map(|_| habits.failed("task_get", "no task")).collect();
        assert_eq!(verdicts[..2], [Verdict::Fine, Verdict::Fine]);
        assert!(matches!(&verdicts[2], Verdict::Warn(why) if why.contains("3 times")));
        assert!(matches!(&verdicts[3], Verdict::Stop(why) if why.contains("no task")));
    }

    #[test]
    fn a_warning_is_given_once() {
        let mut habits = Habits::default();
        let warned =
            (0..4).filter(|_| matches!(habits.called("Bash", "ls"), Verdict::Warn(_))).count();
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
