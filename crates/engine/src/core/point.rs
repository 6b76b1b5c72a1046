//! The places between the steps of an outbox job. A test lets the server die at each of them and looks
//! that interrupted work is complete or undone after a restart.

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A place between two steps.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Point {
            $($(#[$doc])* $name,)*
        }

        impl Point {
            /// Every place.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its name: the job's kind, and what was just done.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The place of that name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| point.name() == name)
            }
        }
    };
}

points! {
    /// A review was asked for
    ReviewAsked = "review.asked",
    /// The reviewer's worktree is there
    ReviewForked = "review.forked",
    /// The review is on record
    ReviewRecorded = "review.recorded",
    /// A review that cannot be begun was undone
    ReviewUndone = "review.undone",
    /// Feedback was given
    FeedbackAsked = "feedback.asked",
    /// The feedback is a commit
    FeedbackCommitted = "feedback.committed",
    /// The planned merge is recorded
    FeedbackNoted = "feedback.noted",
    /// It is in the coder's worktree
    FeedbackMerged = "feedback.merged",
    /// It is on record
    FeedbackRecorded = "feedback.recorded",
    /// A pull request was asked for
    PullAsked = "pull.asked",
    /// The feedback file is out of the branch
    PullCleaned = "pull.cleaned",
    /// The branch is on GitHub
    PullPushed = "pull.pushed",
    /// The pull request is on GitHub
    PullOpened = "pull.opened",
    /// It is on record
    PullRecorded = "pull.recorded",
    /// Issues were asked for
    IssuesAsked = "issues.asked",
    /// One of them is on GitHub
    IssuesOpened = "issues.opened",
    /// They are on record
    IssuesRecorded = "issues.recorded",
    /// Approved work is in the queue
    MergeQueued = "merge.queued",
    /// It is this work's turn to be merged
    MergeAsked = "merge.asked",
    /// The scratch worktree has the merged work
    MergeTried = "merge.tried",
    /// The check was passed
    MergeChecked = "merge.checked",
    /// The branch has it
    MergeMoved = "merge.moved",
    /// It is on record
    MergeRecorded = "merge.recorded",
    /// A commit was asked for
    CommitAsked = "commit.asked",
    /// The planned commit is recorded
    CommitNoted = "commit.noted",
    /// The commit is made
    CommitDone = "commit.done",
    /// That is on record
    CommitRecorded = "commit.recorded",
    /// A rebase was asked for
    RebaseAsked = "rebase.asked",
    /// The planned rebase is recorded
    RebaseNoted = "rebase.noted",
    /// The branch is where it should be
    RebaseDone = "rebase.done",
    /// That is on record
    RebaseRecorded = "rebase.recorded",
    /// A worktree is to be looked after
    TidyAsked = "tidy.asked",
    /// Its uncommitted work is on a branch
    TidyRescued = "tidy.rescued",
    /// It is gone
    TidyRemoved = "tidy.removed",
    /// That is on record
    TidyRecorded = "tidy.recorded",
    /// A new agent's worktree is on record
    WorktreeWanted = "worktree.wanted",
    /// It is there
    WorktreeMade = "worktree.made",
    /// A loop's next iteration was decided on, and has no agent yet
    LoopDecided = "loop.decided",
    /// A loop's iteration and its agent are on record
    LoopDrafted = "loop.drafted",
    /// A hook of a loop runs
    LoopHooked = "loop.hooked",
    /// The end of an iteration is recorded
    LoopJudged = "loop.judged",
    /// The changes of an iteration are committed
    LoopCommitted = "loop.committed",
    /// An archive of the audit chain is on disk, and the chain is not cut yet
    CleanArchived = "clean.archived",
    /// The chain is cut
    CleanCut = "clean.cut",
    /// A backup has a copy of the record, and nothing else yet
    BackupSnapshot = "backup.snapshot",
    /// A backup is written under its scratch name
    BackupWritten = "backup.written",
    /// A restore has unpacked and checked everything
    RestoreStaged = "restore.staged",
    /// A restore is decided on, and nothing is moved yet
    RestoreDecided = "restore.decided",
    /// A restore has moved one of the old things aside
    RestoreAside = "restore.aside",
    /// A restore has moved one of the new things in
    RestoreMoved = "restore.moved",
    /// A commit of a home in PostgreSQL is about to be sent there
    LedgerBefore = "ledger.before",
    /// It was sent, and no answer was looked for
    LedgerSent = "ledger.sent",
    /// It is in the log, and not in the server's own file
    LedgerHeld = "ledger.held",
    /// It is in the file, and nobody was answered
    LedgerCommitted = "ledger.committed",
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
