//! Who plays, and how their doings are told.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::player::{Answer, Player, odd};
use crate::app::App;
use crate::render::{bold, dim, name, print_json, print_text, wrapped};
use crate::trouble::Trouble;

/// Tells the story as it happens.
#[derive(Debug)]
pub(super) struct Teller<'a> {
    app: &'a App,
    began: Instant,
}

impl<'a> Teller<'a> {
    pub(super) fn new(app: &'a App) -> Self {
        Self { app, began: Instant::now() }
    }

    /// How long it has been.
    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Tells what somebody did.
    pub(super) fn say(&self, who: &str, what: &str) -> Result<(), Trouble> {
        let millis = self.millis();
        if self.app.render.is_json() {
            return Ok(print_json(&json!({ "atMs": millis, "who": who, "what": what }))?);
        }
        let at = format!("{}.{:03}", millis / 1000, millis % 1000);
        let gap = " ".repeat(9_usize.saturating_sub(who.len()));
        let what = wrapped(what, 64).join(&format!("\n{:16}", ""));
        Ok(print_text(&format!("{} {}{gap} {what}", dim(at), name(who)))?)
    }

    /// Begins a part of the story.
    pub(super) fn part(&self, title: &str) -> Result<(), Trouble> {
        if self.app.render.is_json() {
            return Ok(());
        }
        Ok(print_text(&format!("\n{}", bold(title)))?)
    }

    /// Ends it.
    pub(super) fn end(&self, value: &Value, text: &str) -> Result<(), Trouble> {
        Ok(self.app.render.answer(value, || format!("\n{text}"))?)
    }
}

/// One of the three: a name for the story, an id and a client of its own.
#[derive(Debug)]
pub(super) struct Actor {
    /// What the story calls it
    pub(super) who: &'static str,
    /// Its id
    pub(super) id: String,
    client: Player,
}

impl Actor {
    pub(super) fn new(who: &'static str, url: &str, enlisted: &Value) -> Result<Self, Trouble> {
        let part = |key: &str| {
            enlisted[key].as_str().ok_or_else(|| odd(format!("{who} was enlisted without `{key}`")))
        };
        let client = Player::new(url, part("token")?)?;
        Ok(Self { who, id: part("agentId")?.to_owned(), client })
    }

    /// Calls a tool, named as `mail.send`, whatever comes of it.
    pub(super) async fn try_to(&mut self, tool: &str, arguments: Value) -> Result<Answer, Trouble> {
        let (toolset, tool) = tool.split_once('.').unwrap_or(("", tool));
        self.client.call(toolset, tool, arguments).await
    }

    /// Calls a tool that must not fail.
    pub(super) async fn does(&mut self, tool: &str, arguments: Value) -> Result<Value, Trouble> {
        let answer = self.try_to(tool, arguments).await?;
        answer.map_err(|error| odd(format!("{} could not {tool}: {}", self.who, error["message"])))
    }

    /// Calls a tool that must be refused, and returns what was said.
    pub(super) async fn fails(
        &mut self,
        tool: &str,
        arguments: Value,
        code: &str,
    ) -> Result<String, Trouble> {
        match self.try_to(tool, arguments).await? {
            Err(error) if error["code"] == code => {
                Ok(error["message"].as_str().unwrap_or_default().to_owned())
            }
            other => {
                Err(odd(format!("{} should be refused {tool} with {code}: {other:?}", self.who)))
            }
        }
    }

    /// How many tools it is shown.
    pub(super) async fn tool_count(&mut self) -> Result<usize, Trouble> {
        Ok(self.client.tools().await?.len())
    }

    /// Waits for a letter and reads the oldest.
    pub(super) async fn next_letter(&mut self) -> Result<Value, Trouble> {
        let inbox = self.does("mail.list_inbox", json!({ "waitSeconds": 10 })).await?;
        let id = inbox["mails"][0]["id"].clone();
        if id.is_null() {
            return Err(odd(format!("{} waited for mail in vain", self.who)));
        }
        self.does("mail.read", json!({ "mailId": id })).await
    }
}

/// A text of an answer.
pub(super) fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// Stops the story unless something holds.
macro_rules! must {
    ($holds:expr, $what:literal) => {
        if !$holds {
            return Err(crate::demo::player::odd(concat!("it does not hold that ", $what)));
        }
    };
}
pub(super) use must;
