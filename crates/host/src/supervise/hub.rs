//! Clients of the control socket. None of them can hold up the agent.

use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::event::PollFlags;

use crate::run::{MAX_MESSAGE_BYTES, Notice, Position, Request};

/// Upper bound on connections at once: the oldest that is not the server's makes room for a new one.
const MAX_CONNECTIONS: usize = 32;
/// A connection that leaves so much unread is not listened to until it reads.
const MAX_UNREAD_BYTES: usize = 64 * 1024;

/// The socket, and everybody connected to it.
#[derive(Debug)]
pub(super) struct Hub {
    listener: UnixListener,
    /// Once there is one
    agent: Option<u32>,
    connections: Vec<Connection>,
}

/// A connected client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: UnixStream,
    /// A message that is not whole yet
    heard: Vec<u8>,
    /// Bytes not yet sent
    unsent: Vec<u8>,
    /// Output position at the last notice
    told: Position,
    /// True if it has proved to be the server's
    is_server: bool,
    is_gone: bool,
}

impl Hub {
    pub(super) fn new(listener: UnixListener) -> Self {
        Self { listener, agent: None, connections: Vec::new() }
    }

    /// The agent is there.
    pub(super) fn begin(&mut self, agent: u32) {
        self.agent = Some(agent);
    }

    /// Descriptors to poll with their events.
    pub(super) fn watched(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let connections = self.connections.iter().map(|one| (one.stream.as_fd(), one.interest()));
        std::iter::once((self.listener.as_fd(), PollFlags::IN)).chain(connections)
    }

    /// Welcomes who is new.
    pub(super) fn accept(&mut self) {
        // An error is that nobody is there any more, or that there is no room; both pass.
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_err() || !self.make_room() {
                continue;
            }
            let mut connection = Connection {
                stream,
                heard: Vec::new(),
                unsent: Vec::new(),
                told: Position::default(),
                is_server: false,
                is_gone: false,
            };
            if let Some(agent_pid) = self.agent {
                connection.say(&Notice::Hello { agent_pid });
            }
            self.connections.push(connection);
        }
    }

    /// Makes room for one more, and returns whether there is. A client that holds connections without being the
    /// server, such as the agent itself, cannot keep the server out.
    fn make_room(&mut self) -> bool {
        if self.connections.len() < MAX_CONNECTIONS {
            return true;
        }
        let oldest = self.connections.iter().position(|one| !one.is_server);
        oldest.map(|at| self.connections.remove(at)).is_some()
    }

    /// Everybody who was there when [`Hub::watched`] was asked, in its order.
    pub(super) fn connections(&mut self) -> &mut [Connection] {
        &mut self.connections
    }

    /// Tells all clients how far the output goes, and sends what waits. A client that does not read is told later,
    /// and then only the newest.
    pub(super) fn tell(&mut self, end: Position) {
        let Position { segment, offset: bytes } = end;
        for one in &mut self.connections {
            one.send();
            if one.told != end && one.unsent.is_empty() {
                one.told = end;
                one.say(&Notice::Output { segment, bytes });
                one.send();
            }
        }
        self.connections.retain(|one| !one.is_gone);
    }

    /// Tells all clients that the run is over. One that cannot be told finds the connection closed.
    pub(super) fn say_exit(&mut self) {
        self.accept();
        for one in &mut self.connections {
            one.say(&Notice::Exit {});
            one.send();
        }
    }
}

impl Connection {
    fn interest(&self) -> PollFlags {
        let mut interest = PollFlags::empty();
        interest.set(PollFlags::IN, self.unsent.len() < MAX_UNREAD_BYTES);
        interest.set(PollFlags::OUT, !self.unsent.is_empty());
        interest
    }

    /// Reads once. Every request that is whole by now is handed on, with whether it is the server's and with
    /// room for the answer.
    pub(super) fn hear(
        &mut self,
        buffer: &mut [u8],
        mut obey: impl FnMut(Request<'_>, &mut bool) -> Option<Notice>,
    ) {
        let read = match self.stream.read(buffer) {
            Ok(0) => return self.is_gone = true,
            Ok(read) => buffer.get(..read).unwrap_or_default(),
            Err(error) if is_for_later(&error) => return,
            Err(_) => return self.is_gone = true,
        };
        for part in read.split_inclusive(|byte| *byte == b'\n') {
            self.heard.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let message = std::mem::take(&mut self.heard);
                // What is not understood comes from a newer server, and is not for us.
                let request = serde_json::from_slice(&message).ok();
                let answer = request.and_then(|request| obey(request, &mut self.is_server));
                if let Some(answer) = answer {
                    self.say(&answer);
                }
            }
        }
        self.is_gone |= self.heard.len() > MAX_MESSAGE_BYTES;
    }

    /// Puts a notice with what is to be sent.
    fn say(&mut self, notice: &Notice) {
        match serde_json::to_writer(&mut self.unsent, notice) {
            Ok(()) => self.unsent.push(b'\n'),
            Err(_) => self.is_gone = true,
        }
    }

    /// Sends as much as they take.
    fn send(&mut self) {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_for_later(&error) => return,
                // They have closed it. What they sent before is still to be read.
                Err(_) => self.unsent.clear(),
            }
        }
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
