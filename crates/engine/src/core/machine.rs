//! The machine as every room uses it: git, folders, work on blocking threads, and the row of an operator's act.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use host::files::{self, Mode};
use host::git::{Checkout, Git, GitError, Repo};
use host::run::RunFolder;
use model::AgentId;
use serde_json::Value;
use store::{Agent, AuditDraft, EventDraft};
use wire::event::EventData;

use crate::core::error::{Code, ToolError};
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
        if !(dir == self.options.project || self.is_below_worktrees(dir)) {
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

    /// The folder in which new worktrees are made.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.settings().worktrees.folder.clone().unwrap_or_else(|| self.worktrees_in_home())
    }

    /// The folder in which worktrees were made before they were outside the project. Those that are there
    /// stay until they are removed.
    fn worktrees_in_home(&self) -> PathBuf {
        self.options.home.join("worktrees")
    }

    /// Every folder in which worktrees of this home may lie.
    pub(crate) fn worktree_folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.worktrees(), self.worktrees_in_home()];
        folders.dedup();
        folders
    }

    fn is_below_worktrees(&self, dir: &Path) -> bool {
        self.worktree_folders().iter().any(|folder| dir.starts_with(folder))
    }

    /// The folder of an agent's new worktree.
    pub(crate) fn worktree_path(&self, agent: AgentId) -> PathBuf {
        self.worktrees().join(agent.to_string())
    }

    /// The folder of the claims of ports, which all homes share whose worktrees lie side by side.
    pub(crate) fn ports_folder(&self) -> PathBuf {
        self.worktrees().with_file_name(".ports")
    }

    /// The variable with the first port of the worktree around a folder, if it is one of ours.
    pub(crate) fn port_variable(&self, dir: &Path) -> Option<(String, String)> {
        let checkout = Checkout::around(dir).filter(|checkout| checkout.name.is_some())?;
        let port = host::ports::claimed(&self.ports_folder(), &checkout.top)?;
        Some(("ADJUTANT_PORT".to_owned(), port.to_string()))
    }

    /// Makes the folder of worktrees, readable by its owner alone.
    pub(crate) fn make_worktrees_folder(&self) -> Result<(), ToolError> {
        let folder = self.worktrees();
        let made = files::make_dir(&folder, Mode::Private);
        made.and_then(|()| files::restrict_dir(&folder)).map_err(|error| {
            let shown = folder.display();
            let message =
                format!("the folder of worktrees `{shown}` cannot be used: {}", error.source);
            ToolError::new(Code::ExternalError, message).hint(format!(
                "make `{shown}` a writable folder, or set another with `worktrees.path`"
            ))
        })
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
