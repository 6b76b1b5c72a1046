//! The one writer: a thread that takes every waiting operation into one commit.
//!
//! One failure does not touch its neighbours: then all are run again, with a savepoint each. Answers go
//! out after the commit, and so does the news of the last event.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::core::chain::{AuditDraft, Chain};
use crate::core::error::StoreError;
use crate::core::event_watch::{EventWatch, LastOfKinds};
use crate::core::guard::FileGuard;
use crate::core::ledger::commit_log::CommitLog;
use crate::core::ledger::owned::OwnedHome;
use crate::core::tool_use_counts::ToolUseCounts;
use crate::core::tx::Tx;
use crate::core::wal::WalBound;

/// At most so many operations share a commit: the first of them has waited long enough.
const MAX_BATCH_OPERATIONS: usize = 512;
/// Rows that nobody waits for wait this long for an operation to share its commit.
const UNAWAITED_ROWS_DELAY: Duration = Duration::from_millis(25);
/// Rows whose commit failed wait this long for the next try.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// With so many rows waiting, a caller that brings more has to wait too.
const MAX_UNAWAITED_ROWS: usize = 20_000;

/// State of the writing thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriterState {
    /// It waits for work
    Idle,
    /// It has been at one commit for so long
    Busy(Duration),
    /// It has ended; nothing is written any more
    Stopped,
}

/// Since when the writing thread has been at its present commit.
#[derive(Debug, Default)]
struct Heartbeat(Mutex<Option<Instant>>);

impl Heartbeat {
    fn set(&self, busy_since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = busy_since;
    }

    fn busy_for(&self) -> Option<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).map(|since| since.elapsed())
    }
}

#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Sender<WriterMessage>,
    heartbeat: Arc<Heartbeat>,
    rows: Arc<UnawaitedRows>,
    last_event: watch::Receiver<i64>,
    last_of_kinds: Arc<LastOfKinds>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum WriterMessage {
    Job(Box<dyn WriterJob>),
    /// There are rows where there were none
    Rows,
    Stop,
}

/// Rows that nobody waits for. They lie beside the queue, so that bringing one wakes nobody.
#[derive(Debug, Default)]
struct UnawaitedRows(Mutex<Vec<AuditDraft>>);

impl UnawaitedRows {
    fn locked(&self) -> std::sync::MutexGuard<'_, Vec<AuditDraft>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a row and says how many there are now.
    fn add(&self, draft: AuditDraft) -> usize {
        let mut rows = self.locked();
        rows.push(draft);
        rows.len()
    }

    fn take(&self) -> Vec<AuditDraft> {
        std::mem::take(&mut *self.locked())
    }

    /// Puts rows back, before those that came since.
    fn put_back(&self, mut first: Vec<AuditDraft>) {
        let mut rows = self.locked();
        first.append(&mut rows);
        *rows = first;
    }
}

/// An operation on its way through the writer, its types forgotten.
trait WriterJob: Send {
    /// Runs it. False: it failed, and what it did must be undone.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Answers the callers, once it is known whether the commit held.
    fn finish(self: Box<Self>, commit: Result<(), StoreError>);
}

struct QueuedOperation<F, T, E> {
    op: F,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> WriterJob for QueuedOperation<F, T, E>
where
    F: FnMut(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A panic in one operation must not take the writer, and so everybody, down.
        let result = catch_unwind(AssertUnwindSafe(|| (self.op)(tx)))
            .unwrap_or_else(|_| Err(StoreError::Corrupt("an operation panicked".into()).into()));
        let kept = result.is_ok();
        self.result = Some(result);
        kept
    }

    fn finish(self: Box<Self>, commit: Result<(), StoreError>) {
        let answer = match (self.result, commit) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.into()),
            (Some(result), Ok(())) => result,
            (None, Ok(())) => Err(StoreError::Stopped.into()),
        };
        // The asker may have gone; that is its business.
        drop(self.reply.send(answer));
    }
}

impl Writer {
    /// Starts the writer of a database, or of a home whose log every commit is appended to.
    pub(crate) fn start(
        mut connection: Connection,
        guard: FileGuard,
        home: Option<OwnedHome>,
    ) -> Result<Self, StoreError> {
        let chain = Chain::load(&connection)?;
        let log = CommitLog::new(&mut connection, home)?;
        let wal = WalBound::of(&mut connection)?;
        let (jobs, inbox) = channel();
        let (event_sender, last_event) = watch::channel(chain.last_event());
        let (rows, heartbeat) =
            (Arc::new(UnawaitedRows::default()), Arc::new(Heartbeat::default()));
        let last_of_kinds = Arc::<LastOfKinds>::default();
        let thread = {
            let (rows, heartbeat) = (Arc::clone(&rows), Arc::clone(&heartbeat));
            let last_of_kinds = Arc::clone(&last_of_kinds);
            let work = move || {
                let writer = WriterThread {
                    connection,
                    chain,
                    uses: ToolUseCounts::new(),
                    log,
                    deferred: Vec::new(),
                    last_event: event_sender,
                    last_of_kinds,
                    rows,
                    wal,
                    guard,
                    heartbeat,
                };
                writer.work(&inbox);
            };
            std::thread::Builder::new().name("store-writer".into()).spawn(work).map_err(
                |error| StoreError::Corrupt(format!("could not start the writer: {error}")),
            )?
        };
        let thread = Mutex::new(Some(thread));
        Ok(Self { jobs, heartbeat, rows, last_event, last_of_kinds, thread })
    }

    pub(crate) async fn write<T, E>(
        &self,
        op: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(QueuedOperation { op, result: None, reply });
        self.jobs.send(WriterMessage::Job(job)).map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    pub(crate) async fn audit_later(&self, draft: AuditDraft) -> Result<(), StoreError> {
        match self.rows.add(draft) {
            1 => self.jobs.send(WriterMessage::Rows).map_err(|_| StoreError::Stopped),
            // An empty operation is answered when all that came before it is on disk.
            waiting if waiting > MAX_UNAWAITED_ROWS => {
                self.write(|_| Ok::<_, StoreError>(())).await
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn last_event(&self) -> watch::Receiver<i64> {
        self.last_event.clone()
    }

    pub(crate) fn event_watch(&self) -> EventWatch {
        EventWatch::new(self.last_event.clone(), Arc::clone(&self.last_of_kinds))
    }

    pub(crate) fn state(&self) -> WriterState {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return WriterState::Stopped;
        }
        self.heartbeat.busy_for().map_or(WriterState::Idle, WriterState::Busy)
    }

    pub(crate) async fn close(&self) {
        // Everything sent before is done first: the queue keeps its order.
        drop(self.jobs.send(WriterMessage::Stop));
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let ended = tokio::task::spawn_blocking(move || thread.join()).await;
            // A writer that panicked has nothing left to flush.
            if cfg!(debug_assertions)
                && let Ok(Err(panic)) = ended
            {
                resume_unwind(panic);
            }
        }
    }
}

/// Waits for the last comparison with the replica, so that a difference fails the test that made it.
#[cfg(debug_assertions)]
impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.send(WriterMessage::Stop));
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // The last handle may be that of an operation, and this thread the writer itself.
        let is_other =
            |thread: &JoinHandle<()>| thread.thread().id() != std::thread::current().id();
        if let Some(thread) = thread.filter(is_other)
            && let Err(panic) = thread.join()
            && !std::thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

struct WriterThread {
    connection: Connection,
    chain: Chain,
    /// Tool use counted by the operations of the current commit
    uses: ToolUseCounts,
    /// Notes of the current commit, and where they go
    log: CommitLog,
    /// Operations that found no room in the entry of their commit
    deferred: Vec<Box<dyn WriterJob>>,
    last_event: watch::Sender<i64>,
    last_of_kinds: Arc<LastOfKinds>,
    rows: Arc<UnawaitedRows>,
    wal: WalBound,
    guard: FileGuard,
    heartbeat: Arc<Heartbeat>,
}

/// Operations of one commit.
#[derive(Default)]
struct CommitBatch {
    jobs: Vec<Box<dyn WriterJob>>,
    rows: Vec<AuditDraft>,
    stop: bool,
}

impl CommitBatch {
    fn add(&mut self, message: WriterMessage) {
        match message {
            WriterMessage::Job(job) => self.jobs.push(job),
            WriterMessage::Rows => {}
            WriterMessage::Stop => self.stop = true,
        }
    }

    fn is_full(&self) -> bool {
        self.stop || self.jobs.len() >= MAX_BATCH_OPERATIONS
    }
}

impl WriterThread {
    fn work(mut self, inbox: &Receiver<WriterMessage>) {
        self.take_turns(inbox);
        self.log.close(&self.connection);
    }

    fn take_turns(&mut self, inbox: &Receiver<WriterMessage>) {
        while let Some(first) = self.next(inbox) {
            let mut batch = CommitBatch::default();
            batch.add(first);
            // Rows alone wait a little for company, so that reading costs few disk writes.
            if batch.jobs.is_empty()
                && !batch.stop
                && let Ok(message) = inbox.recv_timeout(UNAWAITED_ROWS_DELAY)
            {
                batch.add(message);
            }
            while !batch.is_full()
                && let Ok(message) = inbox.try_recv()
            {
                batch.add(message);
            }
            let stop = batch.stop;
            batch.rows = self.rows.take();
            self.heartbeat.set(Some(Instant::now()));
            self.commit(batch);
            self.heartbeat.set(None);
            while !self.deferred.is_empty() {
                let jobs = std::mem::take(&mut self.deferred);
                self.commit(CommitBatch { jobs, ..CommitBatch::default() });
            }
            if stop {
                return;
            }
        }
    }

    /// Waits for the next message. Rows of a failed commit are retried periodically.
    fn next(&self, inbox: &Receiver<WriterMessage>) -> Option<WriterMessage> {
        if self.rows.locked().is_empty() {
            return inbox.recv().ok();
        }
        match inbox.recv_timeout(RETRY_DELAY) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(WriterMessage::Rows),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn commit(&mut self, mut batch: CommitBatch) {
        let before = self.chain;
        let committed = self.try_commit(&mut batch);
        if let Err(error) = &committed {
            // The transaction may have ended by itself, as it does when the disk is full.
            if !self.connection.is_autocommit() {
                drop(self.connection.execute_batch("ROLLBACK"));
            }
            // Where the files were replaced during the commit, it may stand nevertheless.
            let kinds = self.chain.kinds;
            self.chain = Chain::load(&self.connection).unwrap_or(before);
            self.chain.kinds = kinds;
            self.log.failed();
            tracing::error!(error = %error, source = ?error, "commit failed; all its operations were rolled back");
        }
        if committed.is_err() && !batch.rows.is_empty() {
            // They join the next commit that holds.
            self.rows.put_back(std::mem::take(&mut batch.rows));
        }
        if committed.is_ok() {
            let kinds = std::mem::take(&mut self.chain.kinds);
            self.last_of_kinds.committed(kinds, self.chain.last_event());
            // Before the answers: who was answered finds the event announced.
            self.last_event.send_if_modified(|last| {
                std::mem::replace(last, self.chain.last_event()) != self.chain.last_event()
            });
        }
        for job in batch.jobs {
            job.finish(committed.as_ref().map_or_else(|error| Err(error.again()), |()| Ok(())));
        }
        if committed.is_ok() {
            self.wal.after_commit(&self.connection);
        }
    }

    fn try_commit(&mut self, batch: &mut CommitBatch) -> Result<(), StoreError> {
        let before = self.chain;
        self.guard.check()?;
        self.log.before(&self.connection, &self.chain)?;
        self.begin(batch)?;
        // Nearly all operations succeed, so they are tried without a savepoint each. If one fails,
        // all are run again: that they can be is their contract.
        if !self.run_together(batch) {
            self.run_sql("ROLLBACK")?;
            self.chain = before;
            self.begin(batch)?;
            self.run_apart(batch)?;
        }
        Tx::recording(&self.connection, self.chain, self.log.notes()).tool_use_write(&self.uses)?;
        self.log.append(&self.connection, &self.chain)?;
        if let Err(error) = self.run_sql("COMMIT") {
            return Err(self.log.not_committed(error));
        }
        self.log.committed(&self.connection, &self.chain);
        // They must not be written a second time.
        batch.rows.clear();
        // What was written while the file lost its name is lost with it.
        self.guard.check()
    }

    fn run_sql(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }

    fn begin(&mut self, batch: &CommitBatch) -> Result<(), StoreError> {
        self.run_sql("BEGIN IMMEDIATE")?;
        self.log.begin(&self.connection);
        let mut tx = Tx::recording(&self.connection, self.chain, self.log.notes());
        tx.audit_append_all(&batch.rows)?;
        // Not added: what an earlier try counted came to nothing.
        (self.chain, self.uses) = (tx.chain, tx.uses);
        Ok(())
    }

    /// Runs the operations until one fails, and says whether none did.
    fn run_together(&mut self, batch: &mut CommitBatch) -> bool {
        let mut run = 0;
        for job in &mut batch.jobs {
            let mut tx = Tx::recording(&self.connection, self.chain, self.log.notes());
            let kept = job.run(&mut tx);
            self.chain = tx.chain;
            self.uses.take_over(tx.uses);
            run += 1;
            if !kept {
                return false;
            }
            if self.log.is_full() {
                break;
            }
        }
        self.deferred.extend(batch.jobs.drain(run..));
        true
    }

    /// Runs the operations with a savepoint each, so that one failure does not touch its neighbours.
    fn run_apart(&mut self, batch: &mut CommitBatch) -> Result<(), StoreError> {
        let mut run = 0;
        for job in &mut batch.jobs {
            self.run_sql("SAVEPOINT operation")?;
            let mark = self.log.mark();
            let mut tx = Tx::recording(&self.connection, self.chain, self.log.notes());
            if job.run(&mut tx) {
                self.chain = tx.chain;
                self.uses.take_over(tx.uses);
            } else {
                self.run_sql("ROLLBACK TO operation")?;
                self.log.rewind(mark);
            }
            self.run_sql("RELEASE operation")?;
            run += 1;
            if self.log.is_full() {
                break;
            }
        }
        self.deferred.extend(batch.jobs.drain(run..));
        Ok(())
    }
}
