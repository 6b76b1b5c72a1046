//! Input to the agent: in order, once, and bounded.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::run::MAX_INPUT_BYTES;

/// Maximum length of a line's key.
const MAX_KEY_BYTES: usize = 256;

/// The agent's standard input.
#[derive(Debug)]
pub(super) struct Input {
    /// Until it is closed, by either side
    pipe: Option<OwnedFd>,
    /// Bytes the agent has not read
    waiting: Vec<u8>,
    /// Bytes of it written to the pipe
    taken: usize,
    keys: BTreeSet<Box<str>>,
    is_closing: bool,
}

/// Outcome of an input line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOutcome {
    /// It will be sent
    Taken,
    /// It was taken before
    Known,
    /// It cannot be sent
    Refused,
}

impl Input {
    pub(super) fn new(pipe: Option<OwnedFd>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self { pipe, waiting: Vec::new(), taken: 0, keys: BTreeSet::new(), is_closing: false })
    }

    /// Takes a line, unless it was taken before.
    pub(super) fn offer(&mut self, key: &str, line: &str) -> InputOutcome {
        if self.keys.contains(key) {
            return InputOutcome::Known;
        }
        let would_wait = self.waiting.len() - self.taken + line.len() + 1;
        let is_open = self.pipe.is_some() && !self.is_closing;
        if !is_open || would_wait > MAX_INPUT_BYTES || key.len() > MAX_KEY_BYTES {
            return InputOutcome::Refused;
        }
        self.keys.insert(key.into());
        self.waiting.extend_from_slice(line.as_bytes());
        self.waiting.push(b'\n');
        InputOutcome::Taken
    }

    /// Closes it once everything is sent.
    pub(super) fn close_after(&mut self) {
        self.is_closing = true;
    }

    /// Closes it.
    pub(super) fn close(&mut self) {
        self.pipe = None;
        self.waiting = Vec::new();
        self.taken = 0;
    }

    /// Says as much as the agent's pipe takes.
    pub(super) fn flush(&mut self) {
        while let (Some(pipe), Some(rest @ [_, ..])) = (&self.pipe, self.waiting.get(self.taken..))
        {
            match rustix::io::write(pipe, rest) {
                Ok(written) => self.taken += written,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return self.forget_taken(),
                // The agent does not listen any more.
                Err(_) => self.close(),
            }
        }
        self.waiting = Vec::new();
        self.taken = 0;
        if self.is_closing {
            self.close();
        }
    }

    /// Frees the room of sent bytes, now and then: to do it each time would move the rest each time.
    fn forget_taken(&mut self) {
        if self.taken > self.waiting.len() / 2 {
            self.waiting.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// The pipe to watch, and whether something waits for room in it.
    pub(super) fn watched(&self) -> Option<(BorrowedFd<'_>, bool)> {
        self.pipe.as_ref().map(|pipe| (pipe.as_fd(), !self.waiting.is_empty()))
    }
}
