//! Decides how a run ends: the request that counts, and when to use force. Performs nothing itself.

use std::time::{Duration, Instant};

use crate::run::EndCause;

/// Grace period for processes left behind by an agent that ended by itself.
const LEFTOVER_GRACE: Duration = Duration::from_secs(1);
/// The first and the longest pause between two rounds of force.
const FORCE_INTERVALS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_secs(1));

/// A reason for the run to end.
#[derive(Debug)]
pub(super) enum EndRequest {
    /// The agent ended; what it started may still be there
    Exited,
    /// Its end is requested, within this time
    Stop { why: String, grace: Duration },
    /// Its end is requested now
    Kill { why: String },
    /// Its time is up
    TimeUp,
    /// Nobody renewed its lease; it is so late, and has so much grace left
    LeaseLost { late: Duration, grace: Option<Duration> },
}

/// Action to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndingAction {
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
    ended: Option<(EndCause, Option<String>)>,
}

impl Ending {
    pub(super) fn new(grace: Duration) -> Self {
        Self { phase: Phase::Running, grace, ended: None }
    }

    /// Cause of the run's end: the first request.
    pub(super) fn verdict(self) -> (EndCause, Option<String>) {
        self.ended.unwrap_or((EndCause::Exited, None))
    }

    /// Takes a request to end.
    pub(super) fn request_end(&mut self, request: EndRequest, now: Instant) -> EndingAction {
        let (verdict, grace) = match request {
            EndRequest::Exited => ((EndCause::Exited, None), Some(self.grace.min(LEFTOVER_GRACE))),
            EndRequest::Stop { why, grace } => ((EndCause::Stopped, Some(why)), Some(grace)),
            EndRequest::Kill { why } => ((EndCause::Stopped, Some(why)), None),
            EndRequest::TimeUp => ((EndCause::TimedOut, None), Some(self.grace)),
            EndRequest::LeaseLost { late, grace } => {
                let why = grace.is_none().then(|| late_by(late));
                ((EndCause::LeaseLost, why), grace)
            }
        };
        let is_over_by_itself = verdict.0 == EndCause::Exited;
        self.ended.get_or_insert(verdict);
        match (&mut self.phase, grace) {
            (Phase::Forced { .. }, _) => EndingAction::Wait,
            (Phase::Running | Phase::Asked { .. }, None) => self.force(now),
            (Phase::Running, Some(grace)) => {
                self.phase = Phase::Asked { until: far(now, grace) };
                EndingAction::Ask
            }
            // Those that were asked keep their time when the agent is the first of them to go.
            (Phase::Asked { .. }, Some(_)) if is_over_by_itself => EndingAction::Wait,
            (Phase::Asked { until }, Some(grace)) => {
                *until = (*until).min(far(now, grace));
                EndingAction::Wait
            }
        }
    }

    /// Action due by time alone.
    pub(super) fn tick(&mut self, now: Instant) -> EndingAction {
        match &mut self.phase {
            Phase::Asked { until } if *until <= now => self.force(now),
            Phase::Forced { next, pause } if *next <= now => {
                *pause = (*pause * 2).min(FORCE_INTERVALS.1);
                *next = now + *pause;
                EndingAction::Force
            }
            Phase::Running | Phase::Asked { .. } | Phase::Forced { .. } => EndingAction::Wait,
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

    /// A process has ended, and may have left orphans that were not seen: force looks again at once.
    pub(super) fn hurry(&mut self, now: Instant) {
        if let Phase::Forced { next, .. } = &mut self.phase {
            *next = now;
        }
    }

    fn force(&mut self, now: Instant) -> EndingAction {
        self.phase = Phase::Forced { next: now + FORCE_INTERVALS.0, pause: FORCE_INTERVALS.0 };
        EndingAction::Force
    }
}

/// Why an agent without a lease had no grace period.
pub(super) fn late_by(late: Duration) -> String {
    format!("noticed {:.1} s after its lease had ended", late.as_secs_f64())
}

/// A time that is too far away to be represented is a year away.
pub(super) fn far(now: Instant, wait: Duration) -> Instant {
    const ONE_YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    now + wait.min(ONE_YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::monotonic;

    const TEST_GRACE: Duration = Duration::from_secs(10);

    fn stop(grace: Duration) -> EndRequest {
        EndRequest::Stop { why: "enough".to_owned(), grace }
    }

    #[test]
    fn who_is_asked_is_forced_when_the_grace_is_over() {
        let (now, mut ending) = (monotonic(), Ending::new(TEST_GRACE));
        assert_eq!(ending.deadline(), None);
        assert_eq!(ending.request_end(stop(TEST_GRACE), now), EndingAction::Ask);
        assert_eq!(ending.deadline(), Some(now + TEST_GRACE));
        assert_eq!(ending.tick(now), EndingAction::Wait);
        assert_eq!(ending.tick(now + TEST_GRACE), EndingAction::Force);
        assert_eq!(ending.tick(now + TEST_GRACE), EndingAction::Wait);
        assert_eq!(
            ending.tick(now + TEST_GRACE + FORCE_INTERVALS.0),
            EndingAction::Force,
            "again and again"
        );
    }

    #[test]
    fn the_first_request_is_the_reason_and_a_later_one_only_hurries() {
        let (now, mut ending) = (monotonic(), Ending::new(TEST_GRACE));
        assert_eq!(ending.request_end(EndRequest::TimeUp, now), EndingAction::Ask);
        assert_eq!(ending.request_end(stop(Duration::from_secs(1)), now), EndingAction::Wait);
        assert_eq!(ending.deadline(), Some(now + Duration::from_secs(1)));
        assert_eq!(ending.request_end(EndRequest::Exited, now), EndingAction::Wait);
        assert_eq!(
            ending.request_end(EndRequest::Kill { why: "now".to_owned() }, now),
            EndingAction::Force
        );
        assert_eq!(ending.request_end(stop(TEST_GRACE), now), EndingAction::Wait);
        assert_eq!(ending.verdict(), (EndCause::TimedOut, None));
    }

    #[test]
    fn what_an_agent_leaves_behind_has_a_second() {
        let (now, mut ending) = (monotonic(), Ending::new(TEST_GRACE));
        assert_eq!(ending.request_end(EndRequest::Exited, now), EndingAction::Ask);
        assert_eq!(ending.deadline(), Some(now + LEFTOVER_GRACE));
        assert_eq!(ending.request_end(stop(TEST_GRACE), now), EndingAction::Wait);
        assert_eq!(ending.deadline(), Some(now + LEFTOVER_GRACE));
        assert_eq!(ending.verdict(), (EndCause::Exited, None));
    }

    #[test]
    fn an_endless_grace_is_accepted() {
        let (now, mut ending) = (monotonic(), Ending::new(Duration::MAX));
        assert_eq!(ending.request_end(EndRequest::TimeUp, now), EndingAction::Ask);
        assert!(ending.deadline().unwrap() > now + TEST_GRACE);
    }
}
