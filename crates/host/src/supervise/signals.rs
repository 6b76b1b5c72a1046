//! Signals, as something that can be polled.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level::pipe};

/// Signals received: a child ended, or this process should end.
#[derive(Debug)]
pub(super) struct Signals {
    /// Readable once there was a signal
    wake: UnixStream,
    /// True after a signal to end
    is_to_end: Arc<AtomicBool>,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (wake, waker) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let is_to_end = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            // The flag first: a woken thread must find it.
            flag::register(signal, Arc::clone(&is_to_end))?;
            pipe::register(signal, waker.try_clone()?)?;
        }
        pipe::register(SIGCHLD, waker)?;
        Ok(Self { wake, is_to_end })
    }

    /// Clears the flag of a signal. Its cause must be looked for afterwards.
    pub(super) fn clear(&mut self) {
        let mut some = [0; 64];
        while matches!(self.wake.read(&mut some), Ok(read) if read > 0) {}
    }

    /// True if this process was asked to end since the last call.
    pub(super) fn take_end(&self) -> bool {
        self.is_to_end.swap(false, Ordering::SeqCst)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
