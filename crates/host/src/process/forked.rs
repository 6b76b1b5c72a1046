//! A child of this process that another process made for it.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::Exit;

/// A child that goes on when this value is dropped, and is reaped by the runtime when it ends.
#[derive(Debug)]
pub(crate) struct Forked {
    pid: Pid,
    /// Readable once it has ended; none once it is reaped
    process: Option<AsyncFd<OwnedFd>>,
    exit: Option<Exit>,
}

impl Forked {
    /// A child of this process, which nobody else reaps: its number means no other process. Needs a runtime.
    #[expect(unsafe_code, reason = "tokio cannot see that an owned descriptor stays open")]
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        // SAFETY: the descriptor is owned by what is registered, and nothing else closes or replaces it.
        let process = unsafe { AsyncFd::register_with_interest(process, Interest::READABLE) }?;
        Ok(Self { pid, process: Some(process), exit: None })
    }

    /// Its process id, while it has one.
    pub(crate) fn id(&self) -> Option<u32> {
        self.process.as_ref().map(|_| self.pid.as_raw_nonzero().get().unsigned_abs())
    }

    /// Waits until it has ended, and reaps it.
    pub(crate) async fn wait(&mut self) -> io::Result<Exit> {
        if let Some(process) = &self.process {
            self.exit = reap(process).await?;
            self.process = None;
        }
        self.exit.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        // Without a runtime this process is about to end, and leaves its children to another.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { drop(reap(&process).await) });
        }
    }
}

async fn reap(process: &AsyncFd<OwnedFd>) -> io::Result<Option<Exit>> {
    drop(process.readable().await?);
    let status = waitid(WaitId::PidFd(process.get_ref().as_fd()), WaitIdOptions::EXITED)?;
    Ok(status.map(|status| match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }))
}
