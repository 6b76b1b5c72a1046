//! The one writer: a thread that takes every waiting operation into one commit.
//!
//! Each operation has a savepoint of its own, so that one failure does not touch its neighbours.
//! Answers go out after the commit, and so does the news of the last event.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::audit::{AuditDraft, Chain};
use crate::error::StoreError;
use crate::tx::Tx;

/// At most so many operations share a commit: the first of them has waited long enough.
const BATCH: usize = 512;
/// Rows that nobody waits for wait this long for company, so that reading costs few disk writes.
const PATIENCE: Duration = Duration::from_millis(25);
/// With so many rows waiting, whoever brings more has to wait too.
const CROWD: usize = 20_000;

#[derive(Debug)]
pub(crate) struct Writer {
    jobs: Sender<Message>,
    waiting_rows: Arc<AtomicUsize>,
    last_event: watch::Receiver<i64>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

enum Message {
    Job(Box<dyn Job>),
    Row(Box<AuditDraft>),
    Stop,
}

/// An operation on its way through the writer, its types forgotten.
trait Job: Send {
    /// Runs it. False: it failed, and what it did must be undone.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Answers whoever asked, once it is known whether the commit held.
    fn finish(self: Box<Self>, commit: Result<(), StoreError>);
}

struct Operation<F, T, E> {
    op: F,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Operation<F, T, E>
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
    pub(crate) fn start(connection: Connection) -> Result<Self, StoreError> {
        let chain = Chain::load(&connection)?;
        let (jobs, inbox) = channel();
        let (event_sender, last_event) = watch::channel(chain.last_event());
        let waiting_rows = Arc::new(AtomicUsize::new(0));
        let thread = {
            let waiting_rows = Arc::clone(&waiting_rows);
            let work = move || {
                Worker { connection, chain, last_event: event_sender, waiting_rows }.work(&inbox);
            };
            std::thread::Builder::new().name("store-writer".into()).spawn(work).map_err(
                |error| StoreError::Corrupt(format!("could not start the writer: {error}")),
            )?
        };
        Ok(Self { jobs, waiting_rows, last_event, thread: Mutex::new(Some(thread)) })
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
        let job = Box::new(Operation { op, result: None, reply });
        self.jobs.send(Message::Job(job)).map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    pub(crate) async fn audit_later(&self, draft: AuditDraft) -> Result<(), StoreError> {
        self.jobs.send(Message::Row(Box::new(draft))).map_err(|_| StoreError::Stopped)?;
        if self.waiting_rows.fetch_add(1, Ordering::Relaxed) > CROWD {
            // An empty operation is answered when all that came before it is on disk.
            self.write(|_| Ok::<_, StoreError>(())).await?;
        }
        Ok(())
    }

    pub(crate) fn last_event(&self) -> watch::Receiver<i64> {
        self.last_event.clone()
    }

    pub(crate) async fn close(&self) {
        // Everything sent before is done first: the queue keeps its order.
        drop(self.jobs.send(Message::Stop));
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A writer that panicked has nothing left to flush.
            drop(tokio::task::spawn_blocking(move || thread.join()).await);
        }
    }
}

struct Worker {
    connection: Connection,
    chain: Chain,
    last_event: watch::Sender<i64>,
    waiting_rows: Arc<AtomicUsize>,
}

/// What one commit will hold.
#[derive(Default)]
struct Batch {
    jobs: Vec<Box<dyn Job>>,
    rows: Vec<AuditDraft>,
    stop: bool,
}

impl Batch {
    fn add(&mut self, message: Message) {
        match message {
            Message::Job(job) => self.jobs.push(job),
            Message::Row(row) => self.rows.push(*row),
            Message::Stop => self.stop = true,
        }
    }

    fn is_full(&self) -> bool {
        self.stop || self.jobs.len() + self.rows.len() >= BATCH
    }
}

impl Worker {
    fn work(mut self, inbox: &Receiver<Message>) {
        loop {
            let mut batch = Batch::default();
            match inbox.recv() {
                Ok(message) => batch.add(message),
                Err(_) => return,
            }
            loop {
                while !batch.is_full()
                    && let Ok(message) = inbox.try_recv()
                {
                    batch.add(message);
                }
                // Somebody waits, or it is worth it: commit. Else wait for company.
                if !batch.jobs.is_empty() || batch.is_full() {
                    break;
                }
                match inbox.recv_timeout(PATIENCE) {
                    Ok(message) => batch.add(message),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
            }
            let stop = batch.stop;
            self.commit(batch);
            if stop {
                return;
            }
        }
    }

    fn commit(&mut self, mut batch: Batch) {
        let before = self.chain;
        let committed = self.try_commit(&mut batch);
        if let Err(error) = &committed {
            self.chain = before;
            // The transaction may have ended by itself, as it does when the disk is full.
            if !self.connection.is_autocommit() {
                drop(self.connection.execute_batch("ROLLBACK"));
            }
            tracing::error!(error = %error, source = ?error, "a commit failed; nothing of it was kept");
        }
        self.waiting_rows.fetch_sub(batch.rows.len(), Ordering::Relaxed);
        for job in batch.jobs {
            job.finish(committed.as_ref().map_or_else(|error| Err(error.again()), |()| Ok(())));
        }
        if committed.is_ok() {
            self.last_event.send_if_modified(|last| {
                std::mem::replace(last, self.chain.last_event()) != self.chain.last_event()
            });
        }
    }

    fn try_commit(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        let Self { connection, chain, .. } = self;
        let run = |sql: &str| -> Result<(), StoreError> {
            connection.prepare_cached(sql)?.execute([])?;
            Ok(())
        };
        run("BEGIN IMMEDIATE")?;
        if !batch.rows.is_empty() {
            let mut tx = Tx::new(connection, *chain);
            tx.audit_append_all(&batch.rows)?;
            *chain = tx.chain;
        }
        for job in &mut batch.jobs {
            run("SAVEPOINT operation")?;
            let mut tx = Tx::new(connection, *chain);
            if job.run(&mut tx) {
                *chain = tx.chain;
            } else {
                run("ROLLBACK TO operation")?;
            }
            run("RELEASE operation")?;
        }
        run("COMMIT")
    }
}
