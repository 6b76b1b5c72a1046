//! A line to the server that outlives it, for commands that wait: after a crash they go on with the
//! next server. Only what may be asked twice goes over it.

use std::time::Duration;

use engine::Code;
use http::HeaderValue;
use model::AgentId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};
use wire::agent_details::AgentDetails;

use crate::app::{App, escaped};
use crate::cli_error::CliError;
use crate::client::{Answer, Client, ClientError, ListPage, ToolCall, all_rows};
use crate::server_process::connect::{self, ServerLocation};
use crate::terminal::render::dim;

/// Wait for a server to restart by itself before we start one.
const BY_ITSELF: Duration = Duration::from_secs(3);
/// Wait for a server that was taken down to be started again.
const STARTED_ELSEWHERE_TIMEOUT: Duration = Duration::from_secs(60);
/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Times that one request may lose the server.
const MAX_RECONNECTS: u32 = 20;

/// A line to the server.
#[derive(Debug)]
pub(crate) struct Steady<'a> {
    app: &'a App,
    client: Client,
    /// Number of servers that were lost
    losses: u32,
}

impl<'a> Steady<'a> {
    /// A line to the server of this home.
    pub(crate) async fn new(app: &'a App) -> Result<Self, CliError> {
        Ok(Self { app, client: app.client().await?, losses: 0 })
    }

    /// The server that there is now.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Number of times that the server was lost. What was in its memory went with it.
    pub(crate) const fn losses(&self) -> u32 {
        self.losses
    }

    /// Reads a document of a known shape.
    pub(crate) async fn fetch<T: DeserializeOwned>(
        &mut self,
        path: &str,
    ) -> Result<Answer<T>, CliError> {
        let mut tries = MAX_RECONNECTS;
        loop {
            match self.client.get(path).await {
                Err(error) if tries > 0 && is_gone(&error) => self.back().await?,
                answer => return Ok(answer?),
            }
            tries -= 1;
        }
    }

    /// Reads all rows of a list that is answered page by page. `path_of` receives the position of the page.
    pub(crate) async fn fetch_all<P: ListPage>(
        &mut self,
        path_of: impl Fn(Option<String>) -> String,
    ) -> Result<Vec<Answer<P::Row>>, CliError> {
        all_rows(async |position| self.fetch::<P>(&path_of(position)).await).await
    }

    /// Calls a tool that may be called twice, and whose answer has a known shape.
    pub(crate) async fn call_tool<T: DeserializeOwned>(
        &mut self,
        tool: &str,
        input: &impl Serialize,
    ) -> Result<Answer<T>, CliError> {
        let call = ToolCall { tool_name: tool, input, agent_id: None };
        let mut tries = MAX_RECONNECTS;
        loop {
            match self.client.call_tool(&call).await {
                Err(error) if tries > 0 && is_gone(&error) => self.back().await?,
                answer => return answer.map_err(|error| CliError::from(error).of_tool(tool)),
            }
            tries -= 1;
        }
    }

    /// Calls a tool once, however often the server must be asked.
    pub(crate) async fn call_tool_once<T: DeserializeOwned>(
        &mut self,
        tool: &str,
        input: &impl Serialize,
    ) -> Result<Answer<T>, CliError> {
        self.call_tool_once_prepared(tool, input, async |_| Ok(())).await
    }

    /// The same, with each server prepared for the call: what the one before had in memory went with it.
    pub(crate) async fn call_tool_once_prepared<T: DeserializeOwned>(
        &mut self,
        tool: &str,
        input: &impl Serialize,
        prepare: impl AsyncFn(&Client) -> Result<(), ClientError>,
    ) -> Result<Answer<T>, CliError> {
        let secret = host::random::secret("")
            .map_err(|error| CliError::new(Code::ExternalError, format!("no key: {error}")))?;
        let key = HeaderValue::from_str(&secret).map_err(std::io::Error::other)?;
        let call = ToolCall { tool_name: tool, input, agent_id: None };
        let mut tries = MAX_RECONNECTS;
        loop {
            let asked = async {
                prepare(&self.client).await?;
                self.client.call_tool_once(&call, &key).await
            };
            match asked.await {
                Err(error) if tries > 0 && is_gone(&error) => self.back().await?,
                answer => return answer.map_err(|error| CliError::from(error).of_tool(tool)),
            }
            tries -= 1;
        }
    }

    /// Id of the agent that a user named: an id, a part of one, or a word such as `last`.
    pub(crate) async fn agent(&mut self, named: &str) -> Result<AgentId, CliError> {
        if let Ok(id) = named.parse() {
            return Ok(id);
        }
        let path = format!("/api/agents/{}", escaped(named));
        Ok(self.fetch::<AgentDetails>(&path).await?.agent.id)
    }

    /// Ids of the agents that a user named.
    pub(crate) async fn agents(&mut self, named: &[String]) -> Result<Vec<AgentId>, CliError> {
        let mut ids = Vec::with_capacity(named.len());
        for named in named {
            ids.push(self.agent(named).await?);
        }
        Ok(ids)
    }

    /// Id of the agent that a user named, if any, for a query.
    pub(crate) async fn agent_if(
        &mut self,
        named: Option<&str>,
    ) -> Result<Option<String>, CliError> {
        match named {
            Some(named) => Ok(Some(self.agent(named).await?.to_string())),
            None => Ok(None),
        }
    }

    /// Waits for the next server.
    async fn back(&mut self) -> Result<(), CliError> {
        self.losses += 1;
        let at = self.place()?;
        if self.comes_back(&at).await? {
            return Ok(());
        }
        self.client = look(&at, STARTED_ELSEWHERE_TIMEOUT).await?.ok_or_else(|| {
            CliError::no_server("the server was stopped; agents keep running")
                .hint("start it again with `adjutant up --detach`, then `adjutant await AGENT`")
        })?;
        Ok(())
    }

    /// Waits for the next server, for as long as the restart takes.
    pub(crate) async fn back_some_day(&mut self) -> Result<(), CliError> {
        let at = self.place()?;
        if self.comes_back(&at).await? {
            return Ok(());
        }
        loop {
            if let Some(client) = look(&at, STARTED_ELSEWHERE_TIMEOUT).await? {
                self.client = client;
                return Ok(());
            }
        }
    }

    fn place(&self) -> Result<ServerLocation, CliError> {
        self.app.place(&["--background", "needed"])
    }

    /// Waits a little for a server that comes back without a person; says whether one did.
    async fn comes_back(&mut self, at: &ServerLocation) -> Result<bool, CliError> {
        // After a crash its keeper starts it again. If we were quicker, it would be kept no longer.
        if let Some(client) = look(at, BY_ITSELF).await? {
            self.client = client;
            return Ok(true);
        }
        let crashed = connect::note(at).is_some();
        if crashed || at.inside_agent || at.url_override.is_some() {
            self.client = connect::connect(at).await?;
            return Ok(true);
        }
        self.app.render.aside(&dim("The server was stopped; waiting for the next one."))?;
        Ok(false)
    }
}

/// The server that is well by then, if one is. Starts none.
async fn look(at: &ServerLocation, patience: Duration) -> Result<Option<Client>, CliError> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(client) = connect::locate(at)?
            && connect::is_well(&client).await
        {
            return Ok(Some(client));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// True if the server appears to be gone.
pub(super) fn is_gone(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::NoServer { .. } | ClientError::NotOurs { .. } | ClientError::Broken { .. }
    )
}
