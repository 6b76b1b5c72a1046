//! MCP resources: `agents://…`.

use model::event::EventKind;
use model::{AgentId, TaskRef};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::{AgentPage, TaskFilter};
use wire::event::{EventData, EventView};
use wire::tools::ResourceText;

use crate::call::cx::{ReadCx, find_task};
use crate::call::door::{Call, Progress};
use crate::call::identity::Principal;
use crate::call::service::Calls;
use crate::call::tool::{Read, Tool, ToolDef};
use crate::core::error::ToolError;
use crate::crew::context::task_context;
use crate::crew::projection;
use crate::crew::run::view::{is_within_reach, within_reach};

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Where
    pub uri: String,
    /// Its name
    pub name: String,
    /// Description
    pub description: String,
    /// In which form
    pub mime: &'static str,
}

/// The forms of resources that there is one of for every agent and every task: template, name,
/// description, form.
pub const RESOURCE_TEMPLATES: &[(&str, &str, &str, &str)] = &[
    (
        "agents://agent/{agentId}",
        "agent",
        "One agent: role, state, task, times",
        "application/json",
    ),
    (
        "agents://task/{taskSlug}",
        "task",
        "One task: the request, earlier work, comments",
        "text/markdown",
    ),
];

const CONTEXT: &str = "agents://context";
const IAC_LOG: &str = "agents://iac-log";

/// Internal tools for reading resources: they go through the door, so that a read is counted, permitted and
/// recorded. It is in no list of tools.
struct ReadResource;

/// URI of a resource.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResourceQuery {
    /// Its address
    uri: String,
}

impl Tool for ReadResource {
    const NAME: &'static str = "mcp__resources__read";
    type Args = ResourceQuery;
    type Answer = ResourceText;
}

impl Read for ReadResource {
    fn read(cx: &ReadCx<'_>, query: ResourceQuery) -> Result<ResourceText, ToolError> {
        Ok(ResourceText { text: ResourceName::parse(&query.uri)?.text(cx)? })
    }
}

/// The tool whose permission covers reading agents.
const LIST_AGENTS: &str = "mcp__harness__list_agents";
/// The tool that tells the same of a task as its resource does.
const TASK_CONTEXT: &str = "mcp__harness__get_task_context";

static READ_OF_AGENTS: ToolDef = ToolDef::read::<ReadResource>().governed_by(LIST_AGENTS);
static READ_OF_TASK: ToolDef = ToolDef::read::<ReadResource>().governed_by(TASK_CONTEXT);

/// A parsed resource URI.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ResourceName {
    Context,
    IacLog,
    Agent(AgentId),
    Task(TaskRef),
}

impl ResourceName {
    fn parse(uri: &str) -> Result<Self, ToolError> {
        let wrong = |problem: String| ToolError::invalid(problem).detail("field", "uri");
        if let Some(id) = uri.strip_prefix("agents://agent/") {
            return id.parse().map(Self::Agent).map_err(|error| wrong(format!("{error}")));
        }
        if let Some(name) = uri.strip_prefix("agents://task/") {
            return name.parse().map(Self::Task).map_err(|error| wrong(format!("{error}")));
        }
        match uri {
            CONTEXT => Ok(Self::Context),
            IAC_LOG => Ok(Self::IacLog),
            _ => Err(ToolError::not_found(format!("there is no resource `{uri}`"))
                .hint("`resources/list` and `resources/templates/list` list the resources")),
        }
    }

    /// Tool that governs reads of and subscriptions to this resource.
    const fn tool(&self) -> &'static ToolDef {
        match self {
            Self::Context | Self::IacLog | Self::Agent(_) => &READ_OF_AGENTS,
            Self::Task(_) => &READ_OF_TASK,
        }
    }

    /// Its text, as far as the caller's reach goes.
    fn text(&self, cx: &ReadCx<'_>) -> Result<String, ToolError> {
        let is_shown = |id| Ok(is_within_reach(cx.tx, cx.settings, cx.caller, id)?);
        match self {
            Self::Context => projection::context_page(cx.tx, cx.now, &is_shown),
            Self::IacLog => projection::iac_log(cx.tx, &is_shown),
            Self::Agent(id) => {
                within_reach(cx.tx, cx.settings, cx.caller, *id)?;
                Ok(projection::agent_file(cx.tx, *id)?.to_string())
            }
            Self::Task(name) => task_context(cx.tx, &find_task(cx.tx, name)?),
        }
    }
}

/// Lists readable resources: the two pages, live agents within reach, the newest tasks.
pub(crate) fn resource_list(
    calls: &Calls,
    principal: Principal,
) -> Result<Vec<ResourceInfo>, ToolError> {
    let caller = calls.caller(principal, None)?;
    let settings = calls.settings();
    let info = |uri: String, name: String, description: &str, mime| ResourceInfo {
        uri,
        name,
        description: description.to_owned(),
        mime,
    };
    let mut all = Vec::new();
    calls.store.read(|tx| {
        if caller.may(&settings, LIST_AGENTS) {
            let description = "Live agents and recent runs";
            all.push(info(CONTEXT.into(), "context".into(), description, "text/markdown"));
            let description = "The log of runs";
            all.push(info(IAC_LOG.into(), "iac-log".into(), description, "text/markdown"));
            for agent in tx.agent_page(AgentPage::Live, 0, 100)?.items {
                if is_within_reach(tx, &settings, &caller, agent.id)? {
                    let uri = format!("agents://agent/{}", agent.id);
                    all.push(info(uri, agent.role, "One agent", "application/json"));
                }
            }
        }
        if caller.may(&settings, TASK_CONTEXT) {
            for task in tx.task_page_newest(&TaskFilter::default(), i64::MAX, 100)?.items {
                let uri = format!("agents://task/{}", task.slug);
                all.push(info(uri, task.slug, "One task", "text/markdown"));
            }
        }
        Ok(all)
    })
}

/// Reads one, as a call through the door.
pub(crate) async fn resource_read(
    calls: &Calls,
    principal: Principal,
    uri: &str,
) -> Result<String, ToolError> {
    // What is none is read nevertheless, so that the attempt is counted and recorded.
    let tool = ResourceName::parse(uri).map_or(&READ_OF_AGENTS, |name| name.tool());
    let input = json!({ "uri": uri });
    let call = Call { principal, as_agent: None, tool, input, key: None };
    let output = calls.call(call, &Progress::default()).await.map_err(|failure| failure.error)?;
    Ok(output.read::<ResourceText>()?.text)
}

/// Checks that the caller could read one, and so may hear that it has changed.
pub(crate) fn resource_check(
    calls: &Calls,
    principal: Principal,
    uri: &str,
) -> Result<(), ToolError> {
    let caller = calls.caller(principal, None)?;
    let settings = calls.settings();
    let name = ResourceName::parse(uri)?;
    caller.check_may(&settings, name.tool().governed_by)?;
    calls.store.read(|tx| match &name {
        ResourceName::Context | ResourceName::IacLog => Ok(()),
        ResourceName::Agent(id) => within_reach(tx, &settings, &caller, *id).map(drop),
        ResourceName::Task(name) => find_task(tx, name).map(drop),
    })
}

/// The slug of the task that an event of a task names.
fn slug_in(event: &EventView) -> Option<String> {
    let is_of_task = event.kind.name().starts_with("task.");
    match Some(event).filter(|_| is_of_task)?.decode().ok()? {
        EventData::TaskCreated(task) => Some(task.slug),
        EventData::TaskAssigned(task) | EventData::TaskUpdated(task) => Some(task.slug),
        EventData::TaskCommented(task) => Some(task.slug),
        _ => None,
    }
}

/// The resources that an event changes.
pub fn resources_touched(event: &EventView) -> Vec<String> {
    let mut uris = Vec::new();
    if let Some(agent) = event.agent_id {
        uris.push(format!("agents://agent/{agent}"));
    }
    match event.kind {
        EventKind::AgentStarted | EventKind::AgentFinished => {
            uris.extend([CONTEXT.to_owned(), IAC_LOG.to_owned()]);
        }
        EventKind::AgentCreated
        | EventKind::AgentStateChanged
        | EventKind::AgentStopping
        | EventKind::AgentWarned
        | EventKind::AgentAsked
        | EventKind::TaskAssigned
        | EventKind::TaskCreated
        | EventKind::TaskUpdated => uris.push(CONTEXT.to_owned()),
        // What else happens shows in no resource but those of its agent and its task.
        _ => {}
    }
    if let Some(task) = event.task_id {
        uris.push(format!("agents://task/{task}"));
        uris.extend(slug_in(event).map(|slug| format!("agents://task/{slug}")));
    }
    uris
}
