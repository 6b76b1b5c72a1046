//! `adjutant top`: the crew on a full screen, live; one agent's stream; mail with a reply; costs.
//!
//! `model` is what is on the screen and decides, `view` draws it, `feed` asks the server, `terminal` is the
//! door to the screen. Here they meet: messages go in, effects come out, and the screen is drawn when
//! something changed, or once a second while times run.

mod describe;
mod feed;
mod keys;
mod layout;
mod model;
mod terminal;
mod text;
mod view;

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use self::feed::Feed;
use self::model::{Effect, Message, State};
use self::terminal::Screen;
use self::view::Paint;
use crate::app::{App, now};
use crate::cli_error::CliError;

/// Times on the screen are in seconds.
const SECOND: Duration = Duration::from_secs(1);

/// Shows the crew until a key quits.
pub(crate) async fn run(app: &App) -> Result<(), CliError> {
    refuse(app)?;
    let (out, messages) = unbounded_channel();
    let (feed, follower) = Feed::start(app, out.clone()).await?;
    let signals = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()];
    let [terminate, hang_up, interrupt] = signals.map(signal);
    let signals = Signals { terminate: terminate?, hang_up: hang_up?, interrupt: interrupt? };
    let colours = app.env.variable("NO_COLOR").is_none();
    let screen = Screen::take(if colours { Paint::Colours } else { Paint::Plain })?;
    terminal::listen(out);
    let state = State::new(screen.area()?, now());
    let crash_at = app.env.crash_at.clone();
    Box::pin(Top { screen, state, feed, messages, follower, signals, crash_at }.go_on()).await
}

/// This is for people at a terminal.
fn refuse(app: &App) -> Result<(), CliError> {
    if app.render.is_json() {
        return Err(CliError::usage("`top` is interactive and has no `--json`")
            .hint("`adjutant ps --json` lists the agents for programs")
            .hint("`adjutant events -f --json` streams events to programs"));
    }
    let instead = "`adjutant ps --watch` shows the crew without a full screen";
    if !terminal::is_there() {
        return Err(CliError::usage("`top` needs a terminal, to draw on and to read keys from")
            .hint(instead));
    }
    if app.env.variable("TERM").is_none_or(|term| term == "dumb") {
        return Err(CliError::usage("`top` needs a terminal with a cursor, and `TERM` names none")
            .hint(instead));
    }
    Ok(())
}

/// Signals that end the screen.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    /// The exit code of the one that comes, as shells give it.
    async fn come(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 143,
            _ = self.hang_up.recv() => 129,
            _ = self.interrupt.recv() => 130,
        }
    }
}

/// Everything together.
struct Top {
    // First, so that the screen is given back before anything else ends.
    screen: Screen,
    state: State,
    feed: Feed,
    messages: UnboundedReceiver<Message>,
    follower: JoinHandle<CliError>,
    signals: Signals,
    /// Where a test wants it to fail
    crash_at: Option<String>,
}

/// Whether to continue.
#[derive(PartialEq, Eq)]
enum Next {
    Go,
    Quit,
}

impl Top {
    async fn go_on(mut self) -> Result<(), CliError> {
        let first = self.state.everything();
        self.perform(first)?;
        let mut ticks = interval(SECOND);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.draw()?;
            self.crash_here();
            let mut is_changed = false;
            // Until there is something to draw.
            while !is_changed {
                let message = tokio::select! {
                    Some(message) = self.messages.recv() => message,
                    _ = ticks.tick() => Message::Tick(now()),
                    exit = self.signals.come() => return Err(CliError::reported(exit)),
                    ended = &mut self.follower => {
                        return Err(ended.map_err(std::io::Error::other)?);
                    }
                };
                is_changed = !matches!(message, Message::Tick(_)) || self.state.is_running();
                if self.take(message)? == Next::Quit {
                    return Ok(());
                }
            }
            // What came together is drawn together.
            while let Ok(message) = self.messages.try_recv() {
                if self.take(message)? == Next::Quit {
                    return Ok(());
                }
            }
        }
    }

    fn draw(&mut self) -> Result<(), CliError> {
        let area = self.screen.area()?;
        if area != self.state.area {
            self.state.update(Message::Resize(area.width, area.height));
        }
        Ok(self.screen.draw(&self.state)?)
    }

    fn take(&mut self, message: Message) -> Result<Next, CliError> {
        let effects = self.state.update(message);
        self.perform(effects)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Result<Next, CliError> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(Next::Quit),
                Effect::Suspend => self.screen.suspend()?,
                other => self.feed.perform(other),
            }
        }
        Ok(Next::Go)
    }

    /// Fails as a bug would, where a test asks for it with `ADJUTANT_CRASH_AT=top`.
    fn crash_here(&self) {
        let is_here = self.crash_at.as_deref() == Some("top") && self.state.overview.is_some();
        assert!(!is_here, "asked to fail by ADJUTANT_CRASH_AT");
    }
}
