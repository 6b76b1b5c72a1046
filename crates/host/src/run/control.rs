//! Messages to and from a supervisor: lines of JSON over its socket.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use super::Variables;
use crate::boot_clock::BootTime;

/// Maximum input queued for the agent.
pub(crate) const MAX_INPUT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum size of a message to the supervisor.
pub(crate) const MAX_MESSAGE_BYTES: usize = 2 * MAX_INPUT_BYTES;
/// Time limit for a message to the supervisor, which reads at once unless its process is stopped.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Upper bound on a message from the supervisor; the longest has values of the environment.
const MAX_NOTICE_BYTES: usize = 1024 * 1024;

/// Request to the supervisor.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request<'a> {
    /// End everything, politely and then by force
    Stop { why: Cow<'a, str>, grace_ms: u64 },
    /// End everything by force
    Kill { why: Cow<'a, str> },
    /// Say a line to the agent
    Input { key: Cow<'a, str>, line: Cow<'a, str> },
    /// Say a line to the agent, with its token where that is named; the record keeps the name
    Whisper { key: Cow<'a, str>, line: Cow<'a, str> },
    /// Say nothing more to the agent
    CloseInput { key: Cow<'a, str> },
    /// Prove to be the server, by the key that was handed over at the start
    Authenticate { key: Cow<'a, str> },
    /// Move the end of the lease to a later point in time; only the server may
    Lease { until: BootTime },
    /// Give the values of these variables of the agent's environment; only the server may ask
    Environment { names: Vec<Cow<'a, str>> },
}

/// Notice from a supervisor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Notice {
    /// It is there; the first, unless the agent could not be started
    Hello {
        /// The agent's process
        agent_pid: u32,
    },
    /// There is more to read. Said once for much output
    Output {
        /// The segment that is being written
        segment: u32,
        /// Size in bytes
        bytes: u64,
    },
    /// Outcome of an input line
    Input {
        /// Key of the line
        key: String,
        /// True if it was accepted, now or earlier
        ok: bool,
    },
    /// The values that the server asked for, of those variables that the agent has
    Environment {
        /// Names and values
        variables: Variables,
    },
    /// Answer to a renewal of the lease by the server
    Lease {
        /// End of the lease in force; none where the run has no lease, or has lost it
        until: Option<BootTime>,
    },
    /// All is over and `exit.json` is there; always the last
    Exit {},
}

/// A connection to a supervisor.
#[derive(Debug)]
pub struct Control {
    sender: ControlSender,
    receiver: ControlReceiver,
}

impl Control {
    pub(super) fn new(stream: UnixStream) -> Self {
        let (read, write) = stream.into_split();
        Self {
            sender: ControlSender(write),
            receiver: ControlReceiver { stream: read, read: Vec::new(), earlier: VecDeque::new() },
        }
    }

    /// Takes it apart, so that one task can listen and speak at the same time.
    pub fn split(self) -> (ControlSender, ControlReceiver) {
        (self.sender, self.receiver)
    }

    /// See [`ControlSender::stop`].
    pub async fn stop(&mut self, why: &str, grace: Duration) -> io::Result<()> {
        self.sender.stop(why, grace).await
    }

    /// See [`ControlSender::kill`].
    pub async fn kill(&mut self, why: &str) -> io::Result<()> {
        self.sender.kill(why).await
    }

    /// Says a line to the agent and waits for what became of it: `false` where the agent's input is
    /// closed, or too much waits already. A key that was taken before is not sent again.
    pub async fn input(&mut self, key: &str, line: &str) -> io::Result<bool> {
        if !self.sender.input(key, line).await? {
            return Ok(false);
        }
        loop {
            match self.receiver.fresh().await {
                Some(Notice::Input { key: of, ok }) if of == key => return Ok(ok),
                Some(notice) => self.receiver.earlier.push_back(notice),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// See [`ControlSender::close_input`].
    pub async fn close_input(&mut self, key: &str) -> io::Result<()> {
        self.sender.close_input(key).await
    }

    /// See [`ControlReceiver::next`].
    pub async fn next(&mut self) -> Option<Notice> {
        self.receiver.next().await
    }

    /// Moves the end of the run's lease to a later point in time, as the server that started it, and returns the one
    /// in force: `None` where the run has no lease, or has lost it. A supervisor that does not know the key does not
    /// answer: the caller sets a time limit.
    pub async fn renew_lease(
        &mut self,
        key: &str,
        until: BootTime,
    ) -> io::Result<Option<BootTime>> {
        self.sender.authenticate(key).await?;
        self.sender.say(&Request::Lease { until }).await?;
        loop {
            match self.receiver.fresh().await {
                Some(Notice::Lease { until }) => return Ok(until),
                Some(notice) => self.receiver.earlier.push_back(notice),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Asks for values of the agent's environment, as the server that started it. A supervisor of an earlier
    /// version does not answer, nor does one that does not know the key: the caller sets a time limit.
    pub async fn environment(&mut self, key: &str, names: &[String]) -> io::Result<Variables> {
        self.sender.authenticate(key).await?;
        let names = names.iter().map(Cow::from).collect();
        self.sender.say(&Request::Environment { names }).await?;
        loop {
            match self.receiver.fresh().await {
                Some(Notice::Environment { variables }) => return Ok(variables),
                Some(notice) => self.receiver.earlier.push_back(notice),
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}

/// The half of a connection that speaks.
#[derive(Debug)]
pub struct ControlSender(OwnedWriteHalf);

impl ControlSender {
    /// Asks the agent and all it started to end; what is left after the grace is ended by force.
    pub async fn stop(&mut self, why: &str, grace: Duration) -> io::Result<()> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.say(&Request::Stop { why: why.into(), grace_ms }).await.map(|_| ())
    }

    /// Ends the agent and all it started, at once.
    pub async fn kill(&mut self, why: &str) -> io::Result<()> {
        self.say(&Request::Kill { why: why.into() }).await.map(|_| ())
    }

    /// Says a line to the agent; the answer comes as [`Notice::Input`]. `false` means that the line is
    /// too long and was not sent.
    pub async fn input(&mut self, key: &str, line: &str) -> io::Result<bool> {
        self.say(&Request::Input { key: key.into(), line: line.into() }).await
    }

    /// As [`ControlSender::input`], with the agent's token where [`crate::agent::TOKEN`] stands.
    pub async fn input_with_token(&mut self, key: &str, line: &str) -> io::Result<bool> {
        self.say(&Request::Whisper { key: key.into(), line: line.into() }).await
    }

    /// Closes the agent's input once it has read everything.
    pub async fn close_input(&mut self, key: &str) -> io::Result<()> {
        self.say(&Request::CloseInput { key: key.into() }).await.map(|_| ())
    }

    /// Proves to be the server: such a connection is kept when others crowd the socket.
    pub async fn authenticate(&mut self, key: &str) -> io::Result<()> {
        self.say(&Request::Authenticate { key: key.into() }).await.map(|_| ())
    }

    async fn say(&mut self, request: &Request<'_>) -> io::Result<bool> {
        let mut message = serde_json::to_vec(request)?;
        message.push(b'\n');
        if message.len() > MAX_MESSAGE_BYTES {
            return Ok(false);
        }
        // An agent can stop its supervisor's process: a keeper that waited for it would hear no order.
        match tokio::time::timeout(SEND_TIMEOUT, self.0.write_all(&message)).await {
            Ok(written) => written.map(|()| true),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// The half of a connection that listens.
#[derive(Debug)]
pub struct ControlReceiver {
    stream: OwnedReadHalf,
    /// Bytes read and not yet parsed
    read: Vec<u8>,
    /// Notices received while [`Control::input`] waited
    earlier: VecDeque<Notice>,
}

impl ControlReceiver {
    /// The next thing that the supervisor says; nothing once it is gone, or what it says makes no sense.
    ///
    /// May be dropped while it waits, as in `select!`: nothing is lost.
    pub async fn next(&mut self) -> Option<Notice> {
        match self.earlier.pop_front() {
            Some(notice) => Some(notice),
            None => self.fresh().await,
        }
    }

    async fn fresh(&mut self) -> Option<Notice> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let notice = serde_json::from_slice(self.read.get(..end)?).ok();
                self.read.drain(..=end);
                return notice;
            }
            if self.read.len() > MAX_NOTICE_BYTES {
                return None;
            }
            match self.stream.read_buf(&mut self.read).await {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }
}
