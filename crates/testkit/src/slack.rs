//! A Slack without Slack: a server on loopback with channels, messages and reactions in memory, which speaks the Web API
//! and Socket Mode.
//!
//! It tells of messages as Slack does: in an envelope that is sent again over the next connection until it is
//! acknowledged, a mention as two events of one message. Anyone who asks for what does not fit is refused as by Slack.

mod record;
mod serve;
mod sockets;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use record::Record;
pub use record::{Fault, Message, SlackCall};

/// A test that waits longer than this hangs.
const CALL_TIMEOUT: Duration = Duration::from_secs(40);

/// The tokens that are good.
const BOT_TOKEN: &str = "xoxb-1111-2222-bottokenthatnobodymaysee";
const APP_TOKEN: &str = "xapp-1-A1-3333-apptokenthatnobodymaysee";
/// What stands in the address of a socket, and is a secret too.
const TICKET: &str = "ticketthatnobodymaysee";
/// The bot's own user.
const BOT: &str = "UBOT";

/// A running Slack; it ends when this is dropped.
#[derive(Debug)]
pub struct FakeSlack {
    address: SocketAddr,
    shared: Arc<Shared>,
    _running: DropGuard,
}

#[derive(Debug)]
struct Shared {
    url: String,
    record: Mutex<Record>,
    changed: watch::Sender<u64>,
}

impl Shared {
    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who wait for something that something happened.
    fn touch(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

impl FakeSlack {
    /// Starts one on a free loopback port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            url: format!("{address}"),
            record: Mutex::default(),
            changed: watch::Sender::new(0),
        });
        let stop = CancellationToken::new();
        let (stopped, router) = (stop.clone(), serve::router(Arc::clone(&shared)));
        // No graceful end: an answer that hangs would never let it finish.
        TaskTracker::new().spawn(async move {
            let serving = async move { axum::serve(listener, router).await };
            stopped.run_until_cancelled(serving).await
        });
        Ok(Self { address, shared, _running: stop.drop_guard() })
    }

    /// The address of its API.
    pub fn url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// The bot's token.
    pub const fn bot_token(&self) -> &'static str {
        BOT_TOKEN
    }

    /// The app's token.
    pub const fn app_token(&self) -> &'static str {
        APP_TOKEN
    }

    /// Everything that nobody may find anywhere.
    pub const fn secrets(&self) -> [&'static str; 3] {
        [BOT_TOKEN, APP_TOKEN, TICKET]
    }

    /// Somebody says something, and Slack tells of it; gives Slack's name of the message.
    pub fn say(&self, channel: &str, user: &str, text: &str) -> String {
        self.say_in(channel, None, user, text)
    }

    /// The same in a thread.
    pub fn reply(&self, channel: &str, thread: &str, user: &str, text: &str) -> String {
        self.say_in(channel, Some(thread), user, text)
    }

    fn say_in(&self, channel: &str, thread: Option<&str>, user: &str, text: &str) -> String {
        let mut record = self.shared.record();
        let ts = record.say(channel, thread, user, text);
        record.tell(channel, &ts);
        drop(record);
        self.shared.touch();
        ts
    }

    /// Somebody says something of which Slack tells nobody, as if it was lost.
    pub fn say_unheard(
        &self,
        channel: &str,
        thread: Option<&str>,
        user: &str,
        text: &str,
    ) -> String {
        self.shared.record().say(channel, thread, user, text)
    }

    /// Tells again of a message, as after an acknowledgement that was lost.
    pub fn tell_again(&self, channel: &str, ts: &str) {
        self.shared.record().tell(channel, ts);
        self.shared.touch();
    }

    /// Tells of a message that is not somebody's plain word.
    pub fn say_odd(&self, channel: &str, subtype: &str, text: &str) {
        self.shared.record().tell_odd(channel, subtype, text);
        self.shared.touch();
    }

    /// Lets the next call of a method end like this.
    pub fn fail_next(&self, method: &str, fault: Fault) {
        self.shared.record().fail(method, fault);
    }

    /// Lets every call of a method be refused with this word, or no more.
    pub fn refuse(&self, method: &str, code: Option<&'static str>) {
        self.shared.record().refuse(method, code);
    }

    /// Closes the connection right after the next envelope was sent, before anybody can acknowledge it.
    pub fn drop_before_acknowledgement(&self) {
        self.shared.record().drop_after_sending = true;
    }

    /// Closes the connection right after the next acknowledgement.
    pub fn drop_after_acknowledgement(&self) {
        self.shared.record().drop_after_hearing = true;
    }

    /// Asks for a new connection, as Slack does every few hours.
    pub fn disconnect(&self, reason: &str) {
        self.shared.record().disconnect(Some(reason));
        self.shared.touch();
    }

    /// Breaks every connection.
    pub fn break_connections(&self) {
        self.shared.record().disconnect(None);
        self.shared.touch();
    }

    /// What the bot said, oldest first.
    pub fn said(&self) -> Vec<Message> {
        self.shared.record().messages.iter().filter(|one| one.user == BOT).cloned().collect()
    }

    /// What the bot said in a thread, oldest first.
    pub fn said_in(&self, thread: &str) -> Vec<String> {
        let said = self.said().into_iter();
        said.filter(|one| one.thread.as_deref() == Some(thread)).map(|one| one.text).collect()
    }

    /// The reactions that a message carries now.
    pub fn reactions(&self, ts: &str) -> Vec<String> {
        self.shared.record().reactions.get(ts).cloned().unwrap_or_default()
    }

    /// The reactions that a message ever got, in order.
    pub fn marks(&self, ts: &str) -> Vec<String> {
        let record = self.shared.record();
        record.marked.iter().filter(|(of, _)| of == ts).map(|(_, name)| name.clone()).collect()
    }

    /// What was asked of it so far, by method.
    pub fn asked(&self, method: &str) -> Vec<SlackCall> {
        let record = self.shared.record();
        record.asked.iter().filter(|one| one.method == method).cloned().collect()
    }

    /// How many envelopes were never acknowledged.
    pub fn unacknowledged(&self) -> usize {
        self.shared.record().envelopes.iter().filter(|one| !one.acknowledged).count()
    }

    /// How many connections were ever opened.
    pub fn connections(&self) -> usize {
        self.shared.record().opened
    }

    /// How many are open now.
    pub fn open_connections(&self) -> usize {
        self.shared.record().sockets.len()
    }

    /// Waits until it is as somebody wants it.
    pub async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<()> {
        let mut changed = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                changed.borrow_and_update();
                if is_so(self) {
                    return Ok(());
                }
                changed.changed().await?;
            }
        };
        match tokio::time::timeout(CALL_TIMEOUT, waiting).await {
            Ok(done) => done,
            Err(_) => bail!("not so: {what}; {:?}", self.shared.record()),
        }
    }
}
