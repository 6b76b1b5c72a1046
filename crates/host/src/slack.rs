//! Slack: the Web API (`web_api.rs`) and Socket Mode (`socket.rs`). Nothing is decided here.
//!
//! Tokens go to the configured host and nowhere else, and no text that leaves this module has one in it.

mod error;
mod socket;
mod web_api;
mod wire;

use std::fmt;
use std::time::Duration;

use model::slack::IncomingMessage;
use serde_json::{Value, json};

pub use error::SlackError;
pub use socket::{Frame, Socket};

use self::web_api::{Token, WebApi};
use crate::post;
use crate::tls::{self, Connector};

/// Marker of our own messages.
const METADATA_EVENT_TYPE: &str = "adjutant";
/// Page size and number of pages read.
const PAGE_SIZE: u32 = 200;
const MAX_PAGES: u32 = 100;

/// Slack. Copies share their connections.
#[derive(Clone)]
pub struct Slack {
    api: WebApi,
    connector: Connector,
    bot: Token,
    app: Token,
}

/// Credentials of an app; debug output does not show them.
#[derive(Clone, Copy)]
pub struct SlackTokens<'a> {
    /// Token of the bot user, which reads and posts
    pub bot: &'a str,
    /// Token of the app, which opens connections
    pub app: &'a str,
}

impl fmt::Debug for SlackTokens<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlackTokens").finish_non_exhaustive()
    }
}

/// Our own identity in Slack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackIdentity {
    /// Our own user
    pub user: String,
    /// The workspace, for people
    pub team: String,
}

/// Message to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Key by which it is found again
    pub key: String,
    /// The channel
    pub channel: String,
    /// The thread
    pub thread: String,
    /// The text, ready for Slack
    pub text: String,
    /// In whose name
    pub username: Option<String>,
}

/// Change of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Gets
    Add,
    /// Loses
    Remove,
}

/// Messages that were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePage {
    /// The messages, oldest first
    pub messages: Vec<IncomingMessage>,
    /// True if there are more than one read returns
    pub cut: bool,
}

impl Slack {
    /// A client of the API at `api_url`, which waits for an answer no longer than `timeout`. To be made inside a
    /// runtime.
    pub fn new(
        api_url: &str,
        tokens: SlackTokens<'_>,
        timeout: Duration,
    ) -> Result<Self, SlackError> {
        let url = api_url.trim_end_matches('/');
        let uri = post::address(url).filter(|uri| uri.query().is_none());
        // Without TLS the tokens could be read on the way.
        let safe = |uri: &http::Uri| uri.scheme_str() == Some("https") || post::is_local(uri);
        if !uri.is_some_and(|uri| safe(&uri)) {
            return Err(SlackError::Address);
        }
        let connector = tls::connector();
        let api = WebApi::new(url, connector.clone(), timeout);
        Ok(Self { api, connector, bot: Token::new(tokens.bot)?, app: Token::new(tokens.app)? })
    }

    /// Looks up our own identity by the bot's token.
    pub async fn identity(&self) -> Result<SlackIdentity, SlackError> {
        let answer: wire::SlackIdentity = self.api.post(&self.bot, "auth.test", &json!({})).await?;
        Ok(SlackIdentity { user: answer.user_id, team: answer.team.unwrap_or_default() })
    }

    /// Opens a connection over which Slack tells what happens.
    pub async fn connect(&self) -> Result<Socket, SlackError> {
        let answer = self.open_connection().await?;
        let opening = socket::open(self.connector.clone(), &answer.url);
        match tokio::time::timeout(self.api.timeout(), opening).await {
            Ok(done) => done,
            Err(_) => Err(SlackError::late(self.api.timeout())),
        }
    }

    /// Checks that the app's token can open connections. The connection is not used.
    pub async fn can_connect(&self) -> Result<(), SlackError> {
        self.open_connection().await.map(|_| ())
    }

    async fn open_connection(&self) -> Result<wire::Opened, SlackError> {
        self.api.post(&self.app, "apps.connections.open", &json!({})).await
    }

    /// Says something, and gives Slack's name of it.
    pub async fn say(&self, post: &NewMessage) -> Result<String, SlackError> {
        let body = wire::NewMessage {
            channel: &post.channel,
            thread_ts: &post.thread,
            text: &post.text,
            username: post.username.as_deref(),
            mrkdwn: true,
            link_names: false,
            unfurl_links: false,
            unfurl_media: false,
            metadata: json!({ "event_type": METADATA_EVENT_TYPE, "event_payload": { "key": post.key } }),
        };
        let answer: wire::Posted = self.api.post(&self.bot, "chat.postMessage", &body).await?;
        Ok(answer.ts)
    }

    /// Checks whether a message was posted, by searching its thread from a given message on.
    pub async fn is_posted(&self, post: &NewMessage, since: &str) -> Result<bool, SlackError> {
        let pages = self.pages("conversations.replies", &post.channel, Some(&post.thread), since);
        let (messages, cut) = pages.await?;
        let found = messages
            .iter()
            .any(|message| message.key(METADATA_EVENT_TYPE) == Some(post.key.as_str()));
        if cut && !found {
            return Err(SlackError::Unsure {
                why: "the thread is too long to look through".into(),
            });
        }
        Ok(found)
    }

    /// Gives a message a reaction or takes it away. What is so already is fine.
    pub async fn react(
        &self,
        reaction: Reaction,
        channel: &str,
        ts: &str,
        name: &str,
    ) -> Result<(), SlackError> {
        let (method, so_already) = match reaction {
            Reaction::Add => ("reactions.add", "already_reacted"),
            Reaction::Remove => ("reactions.remove", "no_reaction"),
        };
        let body = json!({ "channel": channel, "timestamp": ts, "name": name });
        match self.api.post::<Value>(&self.bot, method, &body).await {
            Err(SlackError::Refused { code }) if code == so_already => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// Lists a thread's messages after a given one.
    pub async fn replies(
        &self,
        channel: &str,
        thread: &str,
        after: &str,
    ) -> Result<MessagePage, SlackError> {
        self.read("conversations.replies", channel, Some(thread), after).await
    }

    /// Lists a channel's messages after a given one, without threads.
    pub async fn history(&self, channel: &str, after: &str) -> Result<MessagePage, SlackError> {
        self.read("conversations.history", channel, None, after).await
    }

    async fn read(
        &self,
        method: &str,
        channel: &str,
        thread: Option<&str>,
        after: &str,
    ) -> Result<MessagePage, SlackError> {
        let (messages, cut) = self.pages(method, channel, thread, after).await?;
        let newer = messages.into_iter().filter(|message| message.ts.as_str() > after);
        let mut messages: Vec<IncomingMessage> =
            newer.map(|message| message.into_incoming(channel)).collect();
        messages.sort_by(|a, b| a.ts.cmp(&b.ts));
        Ok(MessagePage { messages, cut })
    }

    async fn pages(
        &self,
        method: &str,
        channel: &str,
        thread: Option<&str>,
        after: &str,
    ) -> Result<(Vec<wire::Message>, bool), SlackError> {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let limit = PAGE_SIZE.to_string();
            let arguments = [
                ("channel", Some(channel)),
                ("ts", thread),
                ("oldest", Some(after)),
                ("limit", Some(&limit)),
                ("include_all_metadata", Some("true")),
                ("cursor", cursor.as_deref()),
            ];
            let page: wire::Page = self.api.get(&self.bot, method, &arguments).await?;
            found.extend(page.messages);
            cursor = page.response_metadata.and_then(|more| more.next_cursor);
            cursor = cursor.filter(|next| !next.is_empty());
            if cursor.is_none() {
                return Ok((found, false));
            }
        }
        Ok((found, true))
    }
}

/// Omits the tokens.
impl fmt::Debug for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slack").field("timeout", &self.api.timeout()).finish_non_exhaustive()
    }
}
