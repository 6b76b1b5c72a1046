//! The loop of the supervisor: waits for the next event and reacts to it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use model::Timestamp;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::boot_clock::BootTime;
use crate::clock::Clock;
use crate::process::{PipedProgram, monotonic};
use crate::run::{ExitRecord, Handover, Notice, Request, Stream};

use super::ending::{EndRequest, Ending, EndingAction, far};
use super::hub::Hub;
use super::input::{Input, InputOutcome};
use super::lease::Lease;
use super::lines::Lines;
use super::recorder::Recorder;
use super::signals::Signals;
use super::tree::{ReapResult, Tree};
use super::{SuperviseError, system};

/// As much as is read at once: what a pipe holds.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// A pipe that still has no end after so many reads is fed by a process that is none of ours.
const MAX_DRAIN_READS: u32 = 1024;

/// Time limits of the agent.
#[derive(Debug)]
pub(super) struct TimeLimits {
    /// Grace period after a request to end
    pub(super) grace: Duration,
    /// Time limit
    pub(super) limit: Option<Duration>,
    /// End of the lease, if it has one
    pub(super) lease: Option<BootTime>,
    /// Environment values and the server's key, as handed over
    pub(super) handover: Handover,
}

/// An agent that is being watched.
#[derive(Debug)]
pub(super) struct Watch {
    tree: Tree,
    signals: Signals,
    heard: [OutputPipe; 2],
    input: Input,
    recorder: Recorder,
    ending: Ending,
    grace: Duration,
    /// When its time is up
    time_up: Option<Instant>,
    lease: Option<Lease>,
    left_behind: u32,
    /// The agent's environment, with its own secret, and the server's key
    handover: Handover,
    buffer: Vec<u8>,
}

/// One of the pipes that the agent speaks into.
#[derive(Debug)]
struct OutputPipe {
    /// Until it ends
    pipe: Option<OwnedFd>,
    lines: Lines,
}

impl Watch {
    pub(super) fn new(
        agent: PipedProgram,
        recorder: Recorder,
        signals: Signals,
        terms: TimeLimits,
    ) -> io::Result<Self> {
        let heard = [
            OutputPipe::new(agent.stdout, Stream::Out)?,
            OutputPipe::new(agent.stderr, Stream::Err)?,
        ];
        Ok(Self {
            tree: Tree::new(agent.pid)?,
            signals,
            heard,
            input: Input::new(agent.stdin)?,
            recorder,
            ending: Ending::new(terms.grace),
            grace: terms.grace,
            time_up: terms.limit.map(|limit| far(monotonic(), limit)),
            lease: terms.lease.map(|until| Lease::new(until, terms.grace)).transpose()?,
            left_behind: 0,
            handover: terms.handover,
            buffer: vec![0; READ_CHUNK_BYTES],
        })
    }

    /// Watches until the agent and everything it started is gone.
    pub(super) fn run(
        mut self,
        hub: &mut Hub,
        started_at: Timestamp,
    ) -> Result<ExitRecord, SuperviseError> {
        loop {
            let ready = self.wait(hub).map_err(system("wait"))?;
            if self.turn(hub, &ready).map_err(system("follow the agent"))? == ReapResult::Nobody {
                break;
            }
        }
        self.drain();
        hub.tell(self.recorder.end());
        let (all, dropped) = self.recorder.tally();
        let status = self.tree.status();
        let (ended, why) = self.ending.verdict();
        Ok(ExitRecord {
            ended,
            why,
            code: status.and_then(|status| status.exit_status()),
            signal: status.and_then(|status| status.terminating_signal()),
            started_at,
            ended_at: Clock::System.now(),
            left_behind: self.left_behind,
            lines: all.lines,
            bytes: all.bytes,
            dropped_lines: dropped.lines,
            dropped_bytes: dropped.bytes,
            unwritten_bytes: self.recorder.unwritten_bytes(),
            last: self.recorder.end(),
        })
    }

    /// Waits until something happens, and says what.
    fn wait(&self, hub: &Hub) -> io::Result<Ready> {
        let mut watched = vec![PollFd::new(&self.signals, PollFlags::IN)];
        // A pipe that has ended is not watched: it would always be ready. What it says is then empty.
        let places = [&self.heard[0].pipe, &self.heard[1].pipe].map(|pipe| {
            pipe.as_ref().map(|pipe| {
                watched.push(PollFd::new(pipe, PollFlags::IN));
                watched.len() - 1
            })
        });
        let input = self.input.watched().map(|(pipe, is_full)| {
            // Without interest in it we still hear that the agent has closed its side.
            let interest = if is_full { PollFlags::OUT } else { PollFlags::empty() };
            watched.push(PollFd::from_borrowed_fd(pipe, interest));
            watched.len() - 1
        });
        let lease = self.lease.as_ref();
        watched.extend(
            lease.and_then(Lease::watched).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
        );
        let hub_from = watched.len();
        watched.extend(hub.watched().map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags)));
        let deadline = [self.time_up, self.ending.deadline()].into_iter().flatten().min();
        let left = deadline.map(|at| at.saturating_duration_since(monotonic()));
        let left = [left, lease.and_then(Lease::longest_wait)].into_iter().flatten().min();
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut watched, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let at = |place: Option<usize>| {
            place.and_then(|at| watched.get(at)).map_or(PollFlags::empty(), PollFd::revents)
        };
        Ok(Ready {
            signals: !at(Some(0)).is_empty(),
            heard: places.map(|place| !at(place).is_empty()),
            input: at(input),
            hub: HubReady {
                is_asked: !at(Some(hub_from)).is_empty(),
                connections: watched.iter().skip(hub_from + 1).map(PollFd::revents).collect(),
            },
        })
    }

    /// Does what follows from what happened.
    fn turn(&mut self, hub: &mut Hub, ready: &Ready) -> io::Result<ReapResult> {
        for (heard, _) in self.heard.iter_mut().zip(ready.heard).filter(|(_, is_ready)| *is_ready) {
            heard.read(&mut self.buffer, &mut self.recorder);
        }
        if ready.signals {
            self.signals.clear();
        }
        let had_ended = self.tree.status().is_some();
        let left = self.tree.reap()?;
        let now = monotonic();
        if left == ReapResult::Nobody {
            return Ok(left);
        }
        if left == ReapResult::Fewer {
            self.ending.hurry(now);
        }
        if !had_ended && self.tree.status().is_some() {
            self.input.close();
            let act = self.ending.request_end(EndRequest::Exited, now);
            self.left_behind = self.act(act);
        }
        if self.signals.take_end() {
            self.request_end(EndRequest::Stop { why: "signal".to_owned(), grace: self.grace }, now);
        }
        if self.time_up.is_some_and(|at| at <= now) {
            self.time_up = None;
            self.request_end(EndRequest::TimeUp, now);
        }
        self.talk(hub, ready, now);
        // A renewal that came while this process was stopped is as good as any.
        if self.lease.as_ref().is_some_and(|lease| lease.is_due(BootTime::now())) {
            self.hear_all(hub, now);
        }
        let lost = self.lease.as_mut().map(|lease| lease.due(BootTime::now())).transpose()?;
        if let Some(lost) = lost.flatten() {
            self.request_end(lost, now);
        }
        let act = self.ending.tick(now);
        self.act(act);
        // First to disk: nobody is told, and the agent hears nothing, of what is not there.
        self.recorder.flush();
        if ready.input.intersects(PollFlags::ERR | PollFlags::HUP) {
            self.input.close();
        }
        self.input.flush();
        hub.tell(self.recorder.end());
        Ok(left)
    }

    /// Listens to those who are connected.
    fn talk(&mut self, hub: &mut Hub, ready: &Ready, now: Instant) {
        let mut buffer = std::mem::take(&mut self.buffer);
        for (connection, flags) in hub.connections().iter_mut().zip(&ready.hub.connections) {
            if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                connection
                    .hear(&mut buffer, |request, is_server| self.obey(request, is_server, now));
            }
        }
        if ready.hub.is_asked {
            hub.accept();
        }
        self.buffer = buffer;
    }

    /// Listens to everybody, also to those who were not accepted yet.
    fn hear_all(&mut self, hub: &mut Hub, now: Instant) {
        hub.accept();
        let mut buffer = std::mem::take(&mut self.buffer);
        for connection in hub.connections() {
            connection.hear(&mut buffer, |request, is_server| self.obey(request, is_server, now));
        }
        self.buffer = buffer;
    }

    fn obey(&mut self, request: Request<'_>, is_server: &mut bool, now: Instant) -> Option<Notice> {
        match request {
            Request::Authenticate { key } => *is_server |= self.handover.is_key(&key),
            Request::Environment { names } => {
                return is_server
                    .then(|| Notice::Environment { variables: self.handover.values_of(&names) });
            }
            // The agent could reach the socket too, and must not prolong its own lease.
            Request::Lease { until } => return is_server.then(|| self.renew(until)),
            Request::Stop { why, grace_ms } => {
                let grace = Duration::from_millis(grace_ms);
                self.request_end(EndRequest::Stop { why: why.into_owned(), grace }, now);
            }
            Request::Kill { why } => {
                self.request_end(EndRequest::Kill { why: why.into_owned() }, now);
            }
            Request::CloseInput { .. } => self.input.close_after(),
            Request::Input { key, line } => {
                let offer = self.input.offer(&key, &line);
                return Some(self.answer_input(&key, &line, offer));
            }
            Request::Whisper { key, line } => {
                let offer = self.input.offer(&key, &self.handover.fill(&line));
                return Some(self.answer_input(&key, &line, offer));
            }
        }
        None
    }

    /// Moves the end of the lease. One whose timer cannot be set stays as it is.
    fn renew(&mut self, until: BootTime) -> Notice {
        let renewed = self.lease.as_mut().and_then(|lease| lease.renew(until).ok());
        Notice::Lease { until: renewed.flatten() }
    }

    /// Records a line, and reports what became of it.
    fn answer_input(&mut self, key: &str, line: &str, offer: InputOutcome) -> Notice {
        if offer == InputOutcome::Taken {
            self.recorder.keep_line(Stream::In, line);
        }
        Notice::Input { key: key.to_owned(), ok: offer != InputOutcome::Refused }
    }

    fn request_end(&mut self, request: EndRequest, now: Instant) {
        let act = self.ending.request_end(request, now);
        self.act(act);
    }

    /// Says how many were asked, beside the agent.
    fn act(&mut self, act: EndingAction) -> u32 {
        match act {
            EndingAction::Wait => 0,
            EndingAction::Ask => self.tree.ask(),
            EndingAction::Force => {
                self.tree.force();
                0
            }
        }
    }

    /// Reads what is left in the pipes. Everybody who wrote into them is gone, so nothing more comes.
    fn drain(&mut self) {
        for heard in &mut self.heard {
            for _ in 0..MAX_DRAIN_READS {
                if !heard.read(&mut self.buffer, &mut self.recorder) {
                    break;
                }
                self.recorder.flush();
            }
            heard.lines.end(&mut self.recorder);
        }
        self.recorder.flush();
    }
}

/// Result of a poll.
#[derive(Debug)]
struct Ready {
    signals: bool,
    heard: [bool; 2],
    input: PollFlags,
    hub: HubReady,
}

#[derive(Debug)]
struct HubReady {
    /// A client wants to connect
    is_asked: bool,
    /// In the order of those who are connected
    connections: Vec<PollFlags>,
}

impl OutputPipe {
    fn new(pipe: OwnedFd, stream: Stream) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe), lines: Lines::new(stream) })
    }

    /// Reads once; says whether there was something.
    fn read(&mut self, buffer: &mut [u8], recorder: &mut Recorder) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        match rustix::io::retry_on_intr(|| rustix::io::read(pipe.as_fd(), &mut *buffer)) {
            Ok(read @ 1..) => {
                self.lines.take(buffer.get(..read).unwrap_or_default(), recorder);
                true
            }
            Err(rustix::io::Errno::AGAIN) => false,
            Ok(_) | Err(_) => {
                self.pipe = None;
                self.lines.end(recorder);
                false
            }
        }
    }
}
