//! Progress for people at a terminal: one line on stderr, which disappears when the work is done.
//! The only user of indicatif. Nothing of it appears in a pipe, with `--json`, or on a dumb terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::app::App;
use crate::terminal::render::short;

/// Interval of the animation.
const TICK: Duration = Duration::from_millis(120);
/// Maximum redraws per second.
const HERTZ: u8 = 10;
/// Longer than this no line is; the terminal cuts what does not fit.
const MAX_LINE_CHARS: usize = 160;
/// The turning sign; the last stands when it is over.
const SIGNS: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏", " "];

/// A line that tells how far some work is. It goes away with this value.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Work that takes as long as it takes.
    pub(crate) fn waiting(app: &App, what: &str) -> Self {
        let bar = Self::new(app, None, "{spinner} {wide_msg}");
        bar.say(what);
        bar
    }

    /// Nothing to be seen.
    pub(crate) fn none() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Work of so many steps.
    pub(crate) fn steps(app: &App, what: &str, all: u64) -> Self {
        let template = "{spinner} {msg} [{bar:24}] {human_pos} of {human_len}, {eta} left";
        let bar = Self::new(app, Some(all), template);
        bar.say(what);
        bar
    }

    fn new(app: &App, all: Option<u64>, template: &str) -> Self {
        // It draws nothing where stderr is no terminal.
        let target = if app.render.is_json() || app.env.variable("TERM").is_none_or(|t| t == "dumb")
        {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(HERTZ)
        };
        let bar = ProgressBar::with_draw_target(all, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.tick_strings(SIGNS).progress_chars("=> "));
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(TICK);
        }
        Self(bar)
    }

    /// True if it is visible.
    pub(crate) fn is_seen(&self) -> bool {
        !self.0.is_hidden()
    }

    /// Tells what is being done. What agents wrote is made harmless.
    pub(crate) fn say(&self, what: &str) {
        self.0.set_message(short(what, MAX_LINE_CHARS));
    }

    /// Sets the number of finished steps.
    pub(crate) fn reach(&self, done: u64) {
        self.0.set_position(done);
    }

    /// One more step is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    /// Takes the line away while something else is printed.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
