//! The record. Nothing else knows SQL.
//!
//! An *operation* is a plain synchronous function over a [`Tx`]; it has no side effect and may be run
//! again from the start. [`Store::write`] and [`Store::read`] are the only doors. What a write did,
//! its events and its audit row commit together or not at all.
//!
//! See ARCHITECTURE.md, “store”.

mod automation;
mod call;
mod core;
mod crew;
mod delivery;
mod mail;
mod notify;
mod tasks;
mod upkeep;
mod views;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

pub use automation::loops::{Loop, LoopMessage, LoopOrder};
pub use automation::plans::{NewPlan, Plan, PlanStep, PlanTurn};
pub use call::audit::{AuditFilter, AuditRow, ChainVerification, verify_chain};
pub use call::audit_cut::{AuditCheckpoint, AuditCut, CHECKPOINT_TOOL, verify_archived};
pub use call::audit_search::{
    AuditAround, AuditBody, AuditCall, AuditCallerFilter, AuditCount, AuditOutcomeFilter,
    AuditSearch, AuditSearchOrder, AuditSearchResult, AuditSpan, AuditTask, ToolFigures,
};
pub use call::home_file::{HomeFile, MAX_HOME_FILE_BYTES};
pub use call::idempotency::{IdempotencyLookup, KeyedCall};
pub use call::mcp_session::McpSession;
pub use call::rights::RightsSnapshot;
pub use call::role_snapshot::{LiveRole, RoleSnapshot};
pub use call::tool_use::RoleToolUse;
pub use call::web_access::{NewPass, Pass, PassKind, Rights};
pub use core::chain::AuditDraft;
pub use core::error::StoreError;
pub use core::event::{Event, EventDraft, EventFilter, EventSearch, EventSpan, EventStep};
pub use core::event_watch::EventWatch;
pub use core::ledger::address::{AddressError, Credentials, LedgerAddress};
pub use core::ledger::client::{LedgerClient, LedgerHome};
pub use core::ledger::commit_times::{CommitHistogram, CommitTimes};
pub use core::ledger::follow::Follower;
pub use core::ledger::followers::{FollowerNote, FollowerRow};
pub use core::ledger::lease::{LeaseClock, LeaseKeeper, LeaseState};
pub use core::ledger::manage::{HomeCheck, LogTail, Standbys, file_commit};
pub use core::ledger::owned::{
    AgentCounts, CommitObserver, CommitStep, EntryKind, GiveUp, NewEntry, OwnedHome, Owner,
    TakeOutcome,
};
pub use core::ledger::snapshot::{NewHome, SnapshotInfo};
#[cfg(debug_assertions)]
pub use core::migrate::rehearse_migrations;
pub use core::migrate::{SCHEMA_VERSION, check_database, schema_version};
pub use core::page::Page;
pub use core::tool_use_counts::ToolUse;
pub use core::tx::Tx;
pub use core::writer::WriterState;
pub use crew::agent::{Agent, AgentPage, NewAgent};
pub use crew::budget::{Budget, BudgetCaps, BudgetReserve, Spend, SpendAmount, SpendBy, SpendSum};
pub use crew::budget_reserve::HeldBudget;
pub use crew::question::Question;
pub use crew::run::{NewRun, ReadPosition, Run, RunReport, StopRequest, Tokens};
pub use crew::spend::{LineageNode, SpendPoint, TaskCost, TimeSpan};
pub use crew::tree::QueuedAgent;
pub use delivery::merge_queue::{Merge, MergeChange, MergePage, NewMerge};
pub use delivery::outbox::{NewOutboxJob, OutboxJob};
pub use delivery::pull::{GithubIssue, PullRequest};
pub use delivery::review::{Feedback, NewReview, Review, ReviewChange, ReviewPage};
pub use delivery::worktree::{NewWorktree, Worktree, WorktreePage};
pub use mail::list::{MailLine, Mailbox};
pub use mail::message::{Inbox, Mail, NewMail, Recipient, Sender};
pub use notify::slack::{SlackMessage, SlackOrder, SlackThread};
pub use notify::slack_out::{NewSlackOut, SlackAct, SlackOut};
pub use notify::webhook::{DeliveryAttempt, Webhook};
pub use notify::webhook_delivery::{Delivery, NewDelivery, RESENT_LINE_PREFIX};
pub use tasks::epic::{Epic, NewEpic};
pub use tasks::note::{NewNote, Note};
pub use tasks::reservation::{NewReservation, Reservation};
pub use tasks::session::{Iteration, IterationEnd, Session};
pub use tasks::task::{Comment, Dispatch, NewTask, Task};
pub use tasks::task_list::TaskFilter;
pub use upkeep::retention::{CleanableBranch, EventPin, EventRetention};
pub use views::board::{
    BoardCard, BoardFilter, BoardMark, BoardPage, BoardPart, InvalidMark, MAX_TASKS_FOUND,
    TaskSearchResult,
};
pub use views::crew::{AgentDetails, CrewPageOrder, CrewStateFilter, LiveAgent};
pub use views::task_story::EpicPage;
pub use views::totals::RecordTotals;

use core::guard::FileGuard;
use core::reader::Readers;
use core::writer::Writer;

/// Wait for a foreign lock on the database, such as a database shell's.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The one handle to the record. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    guard: FileGuard,
}

impl Store {
    /// Opens the database, makes it current, and starts its writer.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with_timeout(path, LOCK_TIMEOUT)
    }

    /// The same, with another time limit for a database that is locked.
    pub fn open_with_timeout(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        Self::open_with(path, patience, &[])
    }

    /// Opens the database, and refuses every write once it, or one of these other files, is no longer the file
    /// that it was.
    pub fn open_guarded(path: &Path, others: &[&Path]) -> Result<Self, StoreError> {
        Self::open_with(path, LOCK_TIMEOUT, others)
    }

    fn open_with(path: &Path, patience: Duration, others: &[&Path]) -> Result<Self, StoreError> {
        core::guard::make_private(path);
        let connection = core::tx::connect(path, patience)?;
        core::migrate::migrate(&connection)?;
        let guard = FileGuard::new(std::iter::once(path).chain(others.iter().copied()))?;
        Self::start(connection, path, patience, guard, None)
    }

    /// Opens the state of a home that this process owns: brings it up to date with the log, and from then on appends
    /// every commit to the log before it counts. Blocks; not to be called on a thread of an asynchronous runtime.
    pub fn open_owned(path: &Path, others: &[&Path], home: OwnedHome) -> Result<Self, StoreError> {
        core::guard::make_private(path);
        let (connection, home) = core::ledger::follow::bring_up_to_date(path, home)?;
        let guard = FileGuard::new(std::iter::once(path).chain(others.iter().copied()))?;
        Self::start(connection, path, LOCK_TIMEOUT, guard, Some(home))
    }

    fn start(
        connection: Connection,
        path: &Path,
        patience: Duration,
        guard: FileGuard,
        home: Option<OwnedHome>,
    ) -> Result<Self, StoreError> {
        let writer = Writer::start(connection, guard.clone(), home)?;
        let readers = Arc::new(Readers::new(path, patience));
        Ok(Self { writer: Arc::new(writer), readers, guard })
    }

    /// Looks whether the database and the files it was opened with are still the same files. Two calls of the
    /// system, so that it may be asked often.
    pub fn check_files(&self) -> Result<(), StoreError> {
        self.guard.check()
    }

    /// Runs an operation and answers once it is safely on disk.
    ///
    /// If the operation fails, nothing of it stays. It shares its commit with whatever else is
    /// waiting.
    pub async fn write<T, E>(
        &self,
        op: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer.write(op).await
    }

    /// Runs an operation that only looks.
    ///
    /// It runs where it is called: a look-up through an index is shorter than a change of threads.
    /// Long ones belong into [`Store::scan`].
    pub fn read<T, E: From<StoreError>>(
        &self,
        op: impl FnOnce(&Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.readers.read(op)
    }

    /// Runs an operation that only looks, and looks long, on a thread of its own.
    pub async fn scan<T, E>(
        &self,
        op: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let readers = Arc::clone(&self.readers);
        tokio::task::spawn_blocking(move || readers.read(op))
            .await
            .unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Records a call that changed nothing. It shares the next commit; nobody waits for it, unless
    /// very many are waiting already.
    pub async fn audit_later(&self, draft: AuditDraft) -> Result<(), StoreError> {
        self.writer.audit_later(draft).await
    }

    /// The number of the last event that is safely on disk, and every later one as it comes.
    pub fn last_event(&self) -> watch::Receiver<i64> {
        self.writer.last_event()
    }

    /// Wakes up after commits with events of certain kinds; it has seen all events up to now.
    pub fn event_watch(&self) -> EventWatch {
        self.writer.event_watch()
    }

    /// Writes a compact copy of the record, as it is at one moment, to a file that must not exist yet.
    ///
    /// Blocks for as long as that takes; reads and writes go on meanwhile.
    pub fn snapshot(&self, to: &Path) -> Result<(), StoreError> {
        self.readers.snapshot(to)
    }

    /// Writes a copy of a home's whole state, for the log: with the exact texts that [`Store::snapshot`] leaves out, so
    /// that replaying what follows makes the same state.
    pub fn ledger_copy(&self, to: &Path) -> Result<(), StoreError> {
        self.readers.copy(to)
    }

    /// State of the writing thread, for health checks.
    pub fn writer_state(&self) -> WriterState {
        self.writer.state()
    }

    /// Ends the writer after everything that waits is on disk.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}
