//! Decides how a run ends: the request that counts, and when to use force. Performs nothing itself.

use std::time::{Duration, Instant};

use crate::run::Ended;

/// Grace period for processes left behind by an agent that ended by itself.
const LEFTOVERS: Duration = Duration::from_secs(1);
/// The first and the longest pause between two rounds of force.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_secs(1));

/// A reason for the run to end.
#[derive(Debug)]
pub(super) enum Wish {
    /// The agent ended; what it started may still be there
    Exited,
    /// Somebody wants it to end, and gives it so long
    Stop { why: String, grace: Duration },
    /// Somebody wants it to end now
    Kill { why: String },
    /// Its time is up
    TimeUp,
}

/// Action to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing
    Wait,
    /// Ask everybody to end
    Ask,
    /// End everybody
    Force,
}

#[derive(Debug)]
enum Phase {
    Running,
    Asked { until: Instant },
    Forced { next: Instant, pause: Duration },
}

/// The way to the end.
#[derive(Debug)]
pub(super) struct Ending {
    phase: Phase,
    /// Default grace period
    grace: Duration,
    ended: Option<(Ended, Option<String>)>,
}

impl Ending {
    pub(super) fn new(grace: Duration) -> Self {
        Self { phase: Phase::Running, grace, ended: None }
    }

    /// Cause of the run's end: the first request.
    pub(super) fn verdict(self) -> (Ended, Option<String>) {
        self.ended.unwrap_or((Ended::Exited, None))
    }

    /// Hears a wish.
    pub(super) fn wish(&mut self, wish: Wish, now: Instant) -> Act {
        let (verdict, grace) = match wish {
            Wish::Exited => ((Ended::Exited, None), Some(self.grace.min(LEFTOVERS))),
            Wish::Stop { why, grace } => ((Ended::Stopped, Some(why)), Some(grace)),
            Wish::Kill { why } => ((Ended::Stopped, Some(why)), None),
            Wish::TimeUp => ((Ended::TimedOut, None), Some(self.grace)),
        };
        let is_over_by_itself = verdict.0 == Ended::Exited;
        self.ended.get_or_insert(verdict);
        match (&mut self.phase, grace) {
            (Phase::Forced { .. }, _) => Act::Wait,
            (Phase::Running | Phase::Asked { .. }, None) => self.force(now),
            (Phase::Running, Some(grace)) => {
                self.phase = Phase::Asked { until: far(now, grace) };
                Act::Ask
            }
            // Those that were asked keep their time when the agent is the first of them to go.
            (Phase::Asked { .. }, Some(_)) if is_over_by_itself => Act::Wait,
            (Phase::Asked { until }, Some(grace)) => {
                *until = (*until).min(far(now, grace));
                Act::Wait
            }
        }
    }

    /// Action due by time alone.
    pub(super) fn tick(&mut self, now: Instant) -> Act {
        match &mut self.phase {
            Phase::Asked { until } if *until <= now => self.force(now),
            Phase::Forced { next, pause } if *next <= now => {
                *pause = (*pause * 2).min(PAUSES.1);
                *next = now + *pause;
                Act::Force
            }
            Phase::Running | Phase::Asked { .. } | Phase::Forced { .. } => Act::Wait,
        }
    }

    /// When to look again, if nothing else happens.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running => None,
            Phase::Asked { until } => Some(until),
            Phase::Forced { next, .. } => Some(next),
        }
    }

    /// Somebody has ended, and may have left orphans that nobody saw: force looks again at once.
    pub(super) fn hurry(&mut self, now: Instant) {
        if let Phase::Forced { next, .. } = &mut self.phase {
            *next = now;
        }
    }

    fn force(&mut self, now: Instant) -> Act {
        self.phase = Phase::Forced { next: now + PAUSES.0, pause: PAUSES.0 };
        Act::Force
    }
}

/// A time that is so far away that it cannot be said is a year away.
pub(super) fn far(now: Instant, wait: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now + wait.min(YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::monotonic;

    const GRACE: Duration = Duration::from_secs(10);

    fn stop(grace: Duration) -> Wish {
        Wish::Stop { why: "enough".to_owned(), grace }
    }

    #[test]
    fn who_is_asked_is_forced_when_the_grace_is_over() {
        let (now, mut ending) = (monotonic(), Ending::new(GRACE));
        assert_eq!(ending.deadline(), None);
        assert_eq!(ending.wish(stop(GRACE), now), Act::Ask);
        assert_eq!(ending.deadline(), Some(now + GRACE));
        assert_eq!(ending.tick(now), Act::Wait);
        assert_eq!(ending.tick(now + GRACE), Act::Force);
        assert_eq!(ending.tick(now + GRACE), Act::Wait);
        assert_eq!(ending.tick(now + GRACE + PAUSES.0), Act::Force, "again and again");
    }

    #[test]
    fn the_first_wish_is_the_reason_and_a_later_one_only_hurries() {
        let (now, mut ending) = (monotonic(), Ending::new(GRACE));
        assert_eq!(ending.wish(Wish::TimeUp, now), Act::Ask);
        assert_eq!(ending.wish(stop(Duration::from_secs(1)), now), Act::Wait);
        assert_eq!(ending.deadline(), Some(now + Duration::from_secs(1)));
        assert_eq!(ending.wish(Wish::Exited, now), Act::Wait);
        assert_eq!(ending.wish(Wish::Kill { why: "now".to_owned() }, now), Act::Force);
        assert_eq!(ending.wish(stop(GRACE), now), Act::Wait);
        assert_eq!(ending.verdict(), (Ended::TimedOut, None));
    }

    #[test]
    fn what_an_agent_leaves_behind_has_a_second() {
        let (now, mut ending) = (monotonic(), Ending::new(GRACE));
        assert_eq!(ending.wish(Wish::Exited, now), Act::Ask);
        assert_eq!(ending.deadline(), Some(now + LEFTOVERS));
        assert_eq!(ending.wish(stop(GRACE), now), Act::Wait);
        assert_eq!(ending.deadline(), Some(now + LEFTOVERS));
        assert_eq!(ending.verdict(), (Ended::Exited, None));
    }

    #[test]
    fn an_endless_grace_is_no_trouble() {
        let (now, mut ending) = (monotonic(), Ending::new(Duration::MAX));
        assert_eq!(ending.wish(Wish::TimeUp, now), Act::Ask);
        assert!(ending.deadline().unwrap() > now + GRACE);
    }
}
