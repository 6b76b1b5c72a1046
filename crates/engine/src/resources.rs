//! What can be read and listened to beside the tools: `agents://…`.

use model::event::EventKind;
use model::{AgentId, TaskRef};
use store::{AgentPage, Event};

use crate::context::task_context;
use crate::cx::find_task;
use crate::engine::Engine;
use crate::error::ToolError;
use crate::identity::Principal;
use crate::projection;

/// Something that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceInfo {
    /// Where
    pub uri: String,
    /// Its name
    pub name: String,
    /// What it tells
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
        "One task: the request, earlier work, remarks",
        "text/markdown",
    ),
];

const CONTEXT: &str = "agents://context";
const IAC_LOG: &str = "agents://iac-log";

impl Engine {
    /// What the caller can read: the two pages, the live agents, the newest tasks.
    pub fn resource_list(&self, principal: Principal) -> Result<Vec<ResourceInfo>, ToolError> {
        self.caller(principal, None)?;
        let info = |uri: String, name: String, description: &str, mime| ResourceInfo {
            uri,
            name,
            description: description.to_owned(),
            mime,
        };
        let mut all = vec![
            info(
                CONTEXT.into(),
                "context".into(),
                "Who is at work, and the last runs",
                "text/markdown",
            ),
            info(IAC_LOG.into(), "iac-log".into(), "The log of runs", "text/markdown"),
        ];
        self.store.read(|tx| {
            for agent in tx.agent_page(AgentPage::Live, 0, 100)?.items {
                let uri = format!("agents://agent/{}", agent.id);
                all.push(info(uri, agent.role, "One agent", "application/json"));
            }
            for task in tx.task_page_newest(i64::MAX, 100)?.items {
                let uri = format!("agents://task/{}", task.slug);
                all.push(info(uri, task.slug, "One task", "text/markdown"));
            }
            Ok(all)
        })
    }

    /// Reads one.
    pub fn resource_read(&self, principal: Principal, uri: &str) -> Result<String, ToolError> {
        self.caller(principal, None)?;
        let now = self.now();
        self.store.read(|tx| match uri {
            CONTEXT => projection::context_page(tx, now),
            IAC_LOG => projection::iac_log(tx),
            _ => {
                if let Some(id) = uri.strip_prefix("agents://agent/") {
                    let id: AgentId =
                        id.parse().map_err(|error| ToolError::invalid(format!("{error}")))?;
                    return Ok(projection::agent_file(tx, id)?.to_string());
                }
                if let Some(name) = uri.strip_prefix("agents://task/") {
                    let name: TaskRef =
                        name.parse().map_err(|error| ToolError::invalid(format!("{error}")))?;
                    return task_context(tx, &find_task(tx, &name)?);
                }
                Err(ToolError::not_found(format!("there is no resource `{uri}`"))
                    .hint("`resources/list` and `resources/templates/list` say what there is"))
            }
        })
    }
}

/// The resources that an event changes.
pub fn resources_touched(event: &Event) -> Vec<String> {
    let mut uris = Vec::new();
    if let Some(agent) = event.agent {
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
    if let Some(task) = event.task {
        uris.push(format!("agents://task/{task}"));
        if let Some(slug) = event.data["slug"].as_str() {
            uris.push(format!("agents://task/{slug}"));
        }
    }
    uris
}
