//! The machine as every room uses it: git, folders, work on blocking threads, and the row of an operator's act.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use host::git::{Git, GitError, Repo};
use host::run::RunFolder;
use model::AgentId;
use serde_json::Value;
use store::{Agent, AuditDraft, EventDraft};
use wire::event::EventData;

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact::redact;

/// Something that the operator did beside the tools, for the record of calls.
#[derive(Debug, Clone)]
pub struct OperatorAct {
    /// Name in the record, `operator__…`
    pub tool: &'static str,
    /// Input
    pub input: Value,
    /// Output
    pub output: Value,
}

impl Core {
    /// Where the operator has programs.
    pub(crate) fn operator_path(&self) -> &OsStr {
        let environment = &self.options.operator_environment;
        let path = environment.iter().find(|(name, _)| name == "PATH");
        path.map(|(_, path)| path.as_os_str()).unwrap_or_default()
    }

    /// Git, as the operator has it.
    pub(crate) fn git(&self) -> Git {
        Git::on_path(self.operator_path())
    }

    /// The repository around a folder. Blocks, as everything that is done with it. The project's is opened
    /// once: it knows its worktrees.
    pub(crate) fn repo(&self, dir: &Path) -> Result<Repo, GitError> {
        let limit = Duration::from_millis(self.settings().limits.tool_timeout_ms);
        if !(dir == self.options.project || dir.starts_with(self.worktrees())) {
            return self.git().open(dir, limit);
        }
        let known = || self.repo.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(repo) = known().as_ref() {
            return Ok(repo.clone());
        }
        // Git may take long, and nobody may wait for it under the lock. The first to open it wins, since what it
        // learns is shared.
        let repo = self.git().open(&self.options.project, limit)?;
        Ok(known().get_or_insert(repo).clone())
    }

    /// Does something with the machine that blocks, on a thread of its own.
    pub(crate) async fn outside<T, E>(
        &self,
        act: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ToolError> + Send + 'static,
    {
        let engine = self.clone();
        let done = tokio::task::spawn_blocking(move || act(&engine)).await;
        done.unwrap_or_else(|panic| Err(ToolError::internal(panic).into()))
    }

    /// Where worktrees are.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.options.home.join("worktrees")
    }

    /// The folder of an agent's worktree.
    pub(crate) fn worktree_path(&self, agent: AgentId) -> PathBuf {
        self.worktrees().join(agent.to_string())
    }

    /// Where the folders of all runs are.
    pub(crate) fn runs_dir(&self) -> PathBuf {
        self.options.state.join("runs")
    }

    /// Records something that the operator did beside the crew, together with the event that tells of it.
    pub async fn record_act(&self, act: OperatorAct, event: EventData) -> Result<(), ToolError> {
        let now = self.now();
        let event = EventDraft { agent: None, task: None, data: event };
        let row = self.operator_row(act.tool, None, act.input.to_string(), &act.output);
        self.store
            .write(move |tx| {
                tx.event_append(now, &event)?;
                tx.audit_append(&row)?;
                Ok(())
            })
            .await
    }

    /// A row of the record about something that the operator did. It may be made in a transaction, so that its
    /// commit is the one that was [read before](Self::refresh_project_head).
    pub(crate) fn operator_row(
        &self,
        tool: &str,
        agent: Option<AgentId>,
        input: String,
        output: &Value,
    ) -> AuditDraft {
        AuditDraft {
            at: self.now(),
            agent,
            by_operator: true,
            tool: tool.to_owned(),
            input: redact(input),
            code: None,
            output: redact(output.to_string()),
            duration_micros: 0,
            git_commit: self.heads.last(None),
        }
    }
}

/// The folder of an agent's present attempt.
pub(crate) fn folder_of(engine: &Core, agent: &Agent) -> RunFolder {
    let attempt = agent.attempt.to_string();
    RunFolder::open(engine.options.state.join("runs").join(agent.id.to_string()).join(attempt))
}

/// Where an agent works.
pub(crate) fn directory_of(engine: &Core, agent: &Agent) -> PathBuf {
    let project = &engine.options.project;
    agent.cwd.as_ref().map_or_else(|| project.clone(), |cwd| project.join(cwd))
}
