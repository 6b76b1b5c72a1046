//! The clock of leases: it counts the time that the machine sleeps, and nobody sets it.
//!
//! The wall clock can be set, and the clock of timeouts stands still while the machine is suspended. A process that may
//! only run until a deadline needs one that does neither. Two machines' boot clocks have nothing in common: a
//! [`BootTime`] is good for one machine until it is started again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The clock that counts the time that a machine sleeps.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// Interval at which an [`Alarm`] is looked at where the system has no timer that counts the time asleep.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A point in time, in milliseconds since the machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootTime(u64);

impl BootTime {
    /// Current time.
    pub fn now() -> Self {
        let now = clock_gettime(CLOCK);
        Self(now.tv_sec.unsigned_abs() * 1_000 + now.tv_nsec.unsigned_abs() / 1_000_000)
    }

    /// The point in time that much later.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Time that has passed since an earlier point; zero where that is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A descriptor that can be polled and is readable from a point in time on, also when the machine slept in between.
#[derive(Debug)]
pub(crate) struct Alarm {
    /// None where the system has no timer that counts the time asleep
    timer: Option<OwnedFd>,
    is_set: bool,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { timer: timer::create()?, is_set: false })
    }

    /// Sets it to a point in time, or turns it off.
    pub(crate) fn set(&mut self, at: Option<BootTime>) -> io::Result<()> {
        self.is_set = at.is_some();
        self.timer.as_ref().map_or(Ok(()), |own| timer::set(own, at))
    }

    /// Descriptor to poll.
    pub(crate) fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.timer.as_ref().map(AsFd::as_fd)
    }

    /// Longest wait after which it has to be looked at, although nothing was readable.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        (self.timer.is_none() && self.is_set).then_some(LOOK_INTERVAL)
    }
}

#[cfg(target_os = "linux")]
mod timer {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    use super::{BootTime, OwnedFd, io};

    const OFF: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    pub(super) fn create() -> io::Result<Option<OwnedFd>> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Some(timerfd_create(TimerfdClockId::Boottime, flags)?))
    }

    pub(super) fn set(timer: &OwnedFd, at: Option<BootTime>) -> io::Result<()> {
        let value = at.map_or(OFF, |BootTime(millis)| Timespec {
            tv_sec: i64::try_from(millis / 1_000).unwrap_or(i64::MAX),
            // A time of zero would turn it off.
            tv_nsec: i64::try_from((millis % 1_000) * 1_000_000).unwrap_or_default().max(1),
        });
        let when = Itimerspec { it_interval: OFF, it_value: value };
        timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &when)?;
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod timer {
    use super::{BootTime, OwnedFd, io};

    pub(super) fn create() -> io::Result<Option<OwnedFd>> {
        Ok(None)
    }

    pub(super) fn set(_: &OwnedFd, _: Option<BootTime>) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_that_is_too_far_away_is_the_last_one() {
        let end = BootTime::now().after(Duration::MAX);
        assert_eq!(end.after(Duration::from_secs(1)), end);
        assert_eq!(BootTime::now().since(end), Duration::ZERO);
        assert!(Alarm::new().unwrap().set(Some(end)).is_ok());
    }
}
