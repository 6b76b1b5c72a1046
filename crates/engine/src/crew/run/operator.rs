//! The operator's actions on agents: starts them with every option,
//! types to them, reads their output.

use host::run::{OutputLine, Position, RunFolder, Stream, Variables};
use model::AgentId;
use serde_json::json;
use tokio::sync::oneshot;
use wire::agents::OutputPlace;
use wire::runs::{AgentOutput, AgentOutputLine, OutputStream};

use super::draft::{self, Drafted};
use super::keeper::Order;
use super::options::{Draft, StartedBy};
use super::output_folders::{OutputFolders, OutputPart, Writing};
use crate::call::cx::{Caller, WriteCx, find_agent, fresh};
use crate::core::error::ToolError;
use crate::core::handed_on;
use crate::core::machine::folder_of;
use crate::crew::mcp_servers::McpChooser;
use crate::crew::service::Crew;

/// Request for a part of an agent's output.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputRequest {
    /// Of which attempt; the present one where absent
    pub attempt: Option<u32>,
    /// From where
    pub from: OutputPlace,
    /// About so many bytes
    pub bytes: usize,
}

/// A part of an agent's output, as its run folder has it.
#[derive(Debug, Clone)]
pub(crate) struct OutputPage {
    /// The lines
    pub(crate) lines: Vec<OutputLine>,
    /// Start of the next part
    pub(crate) next: Position,
    /// Number of the attempt
    pub(crate) attempt: u32,
    /// True if the output is complete
    pub(crate) complete: bool,
    /// True if the set-up of its worktree printed these lines
    pub(crate) is_setup: bool,
}

/// A position in the output, as clients name it.
pub(crate) const fn output_place(place: Position) -> OutputPlace {
    OutputPlace { segment: place.segment, offset: place.offset }
}

/// A position in the output that a client named.
pub(crate) const fn position(place: OutputPlace) -> Position {
    Position { segment: place.segment, offset: place.offset }
}

impl From<OutputPage> for AgentOutput {
    fn from(page: OutputPage) -> Self {
        let line = |line: OutputLine| AgentOutputLine {
            at: line.at,
            stream: match line.stream {
                Stream::Out => OutputStream::Out,
                Stream::Err => OutputStream::Err,
                Stream::In => OutputStream::In,
            },
            text: line.text,
            cut: line.cut,
        };
        Self {
            lines: page.lines.into_iter().map(line).collect(),
            next: output_place(page.next),
            attempt: page.attempt,
            complete: page.complete,
        }
    }
}

impl Crew {
    /// Makes an agent in the operator's name, or in that of an agent the operator acts as.
    pub async fn draft(&self, mut draft: Draft) -> Result<(AgentId, String, String), ToolError> {
        draft.options.started_by = StartedBy::Person;
        let (engine, settings, now) = (self.clone(), self.settings(), self.now());
        let environment = std::mem::take(&mut draft.environment);
        let environment = handed_on::accept(&settings.handed_on(), environment)?;
        draft.options.handed_on = environment.0.iter().map(|(name, _)| name.clone()).collect();
        draft.options.fingerprints = self.fingerprints(&environment);
        self.check_servers(&draft, &environment).await?;
        let id = fresh(AgentId::from_bits)?;
        // Before it is recorded: its turn may come at once.
        self.handed_on.keep(id, environment);
        let recorded = self
            .store
            .write(move |tx| {
                let caller = Caller { agent: None, by_operator: true };
                let mut cx = WriteCx { tx, caller: &caller, settings: &settings, now };
                let drafted = draft::enrol_as(&mut cx, &draft, id)?;
                let input = json!({
                    "role": draft.role, "kind": draft.kind, "prompt": draft.prompt, "task": draft.task,
                    "cwd": draft.cwd, "resume": draft.resume, "wish": draft.options,
                });
                let output = json!({ "agentId": drafted.id, "taskSlug": drafted.task_slug });
                let input = crate::core::redact::redact(input.to_string());
                let row = engine.operator_row("operator__run", Some(drafted.id), input, &output);
                tx.audit_append(&row)?;
                Ok::<_, ToolError>(drafted)
            })
            .await;
        if recorded.is_err() {
            self.handed_on.end(id, None);
        }
        let Drafted { id, role, task_slug } = recorded?;
        Ok((id, role, task_slug))
    }

    /// Checks that the MCP servers that a role names are there, so that a person learns it at once.
    async fn check_servers(&self, draft: &Draft, given: &Variables) -> Result<(), ToolError> {
        let (name, kind) = (draft.role.clone().unwrap_or_default(), draft.kind.clone());
        let given = given.clone();
        self.outside(move |core| {
            let settings = core.settings();
            let Some(role) = settings.roles.get(&name) else { return Ok(()) };
            let kind = kind.or_else(|| role.kind.clone());
            let kind = kind.unwrap_or_else(|| settings.default_kind.clone());
            let Some(kind) = host::agent::kind(&kind) else { return Ok(()) };
            let runner =
                settings.runners.get(kind.name()).map(|runner| runner.environment.as_slice());
            let lookup = |name: &str| {
                let own = &core.options.agent_environment;
                let mut all = given.0.iter().chain(runner.unwrap_or_default()).chain(own);
                all.find(|(known, _)| known == name).map(|(_, value)| value.clone())
            };
            let chooser = McpChooser {
                settings: &settings,
                kind,
                role: Some(role),
                tools: role.tools.as_deref(),
                directory: &settings.project,
                adjutant: &core.options.adjutant,
                variable: &lookup,
            };
            let chosen = chooser.choose();
            chosen.map(drop).map_err(|why| ToolError::invalid(why).detail("field", "role"))
        })
        .await
    }

    /// Types a line to a running agent; false where its kind does not listen.
    pub async fn type_to(&self, id: AgentId, line: String) -> Result<bool, ToolError> {
        let agent = self.store.read(|tx| find_agent(tx, id))?;
        let (reply, taken) = oneshot::channel();
        if agent.ended_at().is_some() || !self.keepers.order(id, Order::Type(line, reply)) {
            return Err(ToolError::wrong_state(format!("agent `{id}` does not run")));
        }
        Ok(taken.await.unwrap_or(false))
    }

    /// A part of an agent's output.
    pub async fn output(
        &self,
        id: AgentId,
        request: OutputRequest,
    ) -> Result<AgentOutput, ToolError> {
        Ok(self.output_page(id, request).await?.into())
    }

    /// A part of an agent's output, as its run folder has it.
    pub(crate) async fn output_page(
        &self,
        id: AgentId,
        request: OutputRequest,
    ) -> Result<OutputPage, ToolError> {
        let from = position(request.from);
        let agent = self.store.read(|tx| find_agent(tx, id))?;
        let attempt = request.attempt.unwrap_or(agent.attempt);
        let folder =
            RunFolder::open(folder_of(self, &agent).path().with_file_name(attempt.to_string()));
        let over = agent.ended_at().is_some() || attempt < agent.attempt;
        let read = tokio::task::spawn_blocking(move || {
            let writing = if over { Writing::IsOver } else { Writing::GoesOn };
            OutputFolders::of(folder, attempt).read(from, request.bytes, writing)
        });
        let OutputPart { lines, next, is_setup } =
            read.await.map_err(ToolError::internal)?.map_err(ToolError::internal)?;
        let complete = over && lines.is_empty();
        Ok(OutputPage { lines, next, attempt, complete, is_setup })
    }
}
