//! The lease of a run: until when its agent may run unless the lease is renewed.
//!
//! It is kept here and not by the process that started the supervisor, because that one can be stopped or killed while
//! the agent goes on. It is counted on the boot clock, so that a machine that slept knows that it is late.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::ending::EndRequest;
use crate::boot_clock::{Alarm, BootTime};

/// A deadline that is noticed later than this was slept through: then nobody gets a grace period, because the run may
/// have been given to another process meanwhile.
const MAX_LATENESS: Duration = Duration::from_secs(1);

/// The lease of a run that has one.
#[derive(Debug)]
pub(super) struct Lease {
    phase: Phase,
    alarm: Alarm,
    /// Grace period once it is lost
    grace: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Held { until: BootTime },
    Lost { force_at: BootTime },
    Over,
}

impl Lease {
    pub(super) fn new(until: BootTime, grace: Duration) -> io::Result<Self> {
        let mut alarm = Alarm::new()?;
        alarm.set(Some(until))?;
        Ok(Self { phase: Phase::Held { until }, alarm, grace })
    }

    /// Moves the deadline, if that makes it later and it has not passed, and returns the one in force; `None` once the
    /// lease is lost.
    pub(super) fn renew(&mut self, wanted: BootTime) -> io::Result<Option<BootTime>> {
        let Phase::Held { until } = self.phase else { return Ok(None) };
        if wanted > until {
            self.phase = Phase::Held { until: wanted };
            self.alarm.set(Some(wanted))?;
        }
        Ok(Some(until.max(wanted)))
    }

    /// Returns whether the deadline has passed, and nothing was done about it yet.
    pub(super) fn is_due(&self, now: BootTime) -> bool {
        matches!(self.phase, Phase::Held { until } if until <= now)
    }

    /// Request that its deadline makes at this moment. Each request comes once.
    pub(super) fn due(&mut self, now: BootTime) -> io::Result<Option<EndRequest>> {
        match self.phase {
            Phase::Held { until } if until <= now => {
                let late = now.since(until);
                let is_late = late > MAX_LATENESS;
                let force_at = until.after(self.grace);
                self.phase = if is_late { Phase::Over } else { Phase::Lost { force_at } };
                self.alarm.set((!is_late).then_some(force_at))?;
                let grace = (!is_late).then_some(self.grace);
                Ok(Some(EndRequest::LeaseLost { late, grace }))
            }
            Phase::Lost { force_at } if force_at <= now => {
                self.phase = Phase::Over;
                self.alarm.set(None)?;
                Ok(Some(EndRequest::Kill { why: "its lease was lost".to_owned() }))
            }
            Phase::Held { .. } | Phase::Lost { .. } | Phase::Over => Ok(None),
        }
    }

    /// Descriptor to poll.
    pub(super) fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.alarm.watched()
    }

    /// Longest wait after which [`Lease::due`] has to be asked although nothing was readable.
    pub(super) fn longest_wait(&self) -> Option<Duration> {
        self.alarm.longest_wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_GRACE: Duration = Duration::from_secs(10);

    /// A lease that ends a minute after the time that is returned.
    fn lease() -> (BootTime, BootTime, Lease) {
        let now = BootTime::now().after(Duration::from_secs(3600));
        let until = now.after(Duration::from_secs(60));
        (now, until, Lease::new(until, TEST_GRACE).unwrap())
    }

    #[test]
    fn only_a_later_deadline_counts() {
        let (now, until, mut lease) = lease();
        assert_eq!(lease.renew(now).unwrap(), Some(until));
        let later = until.after(TEST_GRACE);
        assert_eq!(lease.renew(later).unwrap(), Some(later));
        assert_eq!(lease.renew(until).unwrap(), Some(later));
        assert!(lease.due(until).unwrap().is_none());
        assert!(matches!(
            lease.due(later).unwrap(),
            Some(EndRequest::LeaseLost { late: Duration::ZERO, grace: Some(TEST_GRACE) })
        ));
    }

    #[test]
    fn a_lost_lease_is_not_given_back() {
        let (_, until, mut lease) = lease();
        assert!(lease.due(until).unwrap().is_some());
        assert_eq!(lease.renew(until.after(TEST_GRACE)).unwrap(), None);
    }

    #[test]
    fn the_grace_ends_by_the_boot_clock() {
        let (_, until, mut lease) = lease();
        assert!(lease.due(until).unwrap().is_some());
        assert!(lease.due(until.after(TEST_GRACE / 2)).unwrap().is_none());
        let force = lease.due(until.after(TEST_GRACE)).unwrap();
        assert!(matches!(force, Some(EndRequest::Kill { .. })), "{force:?}");
        assert!(lease.due(until.after(TEST_GRACE * 2)).unwrap().is_none());
    }

    #[test]
    fn a_deadline_that_was_slept_through_gives_no_grace() {
        let (_, until, mut lease) = lease();
        let thawed = until.after(MAX_LATENESS + Duration::from_millis(1));
        let lost = lease.due(thawed).unwrap();
        assert!(matches!(lost, Some(EndRequest::LeaseLost { grace: None, .. })), "{lost:?}");
        assert!(lease.due(thawed.after(TEST_GRACE)).unwrap().is_none());
    }
}
