//! The second door to the terminal beside `render`: the whole screen, key by key. It is given back as it was
//! when this value goes, when something panics, and while the program is suspended.
//!
//! Only what is harmless is drawn: everything that the server says passes through `describe::sanitized`.

use std::io::{self, BufWriter, IsTerminal as _, Stdout};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event, read};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::mpsc::UnboundedSender;

use super::model::{Message, State};
use super::view::{self, Paint};

/// Largest frame written at once.
const FRAME: usize = 256 * 1024;

/// True while the screen is ours.
static OURS: AtomicBool = AtomicBool::new(false);

/// True for an interactive terminal.
pub(crate) fn is_there() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// The whole screen.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    paint: Paint,
}

impl Screen {
    /// Takes the screen.
    pub(crate) fn take(paint: Paint) -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            // The message of a panic must be seen.
            give_back();
            before(panicked);
        }));
        begin()?;
        // A frame is written in one piece, so that none is seen half drawn.
        let out = BufWriter::with_capacity(FRAME, io::stdout());
        let terminal = Terminal::new(CrosstermBackend::new(out));
        let terminal = terminal.inspect_err(|_| give_back())?;
        Ok(Self { terminal, paint })
    }

    /// Size of the screen.
    pub(crate) fn area(&self) -> io::Result<Rect> {
        let size = self.terminal.size()?;
        Ok(Rect::new(0, 0, size.width, size.height))
    }

    /// Draws a state. Where a panic has given the screen back, that is an error.
    pub(crate) fn draw(&mut self, state: &State) -> io::Result<()> {
        if !OURS.load(Ordering::SeqCst) {
            return Err(io::Error::other("the screen was given back after a panic"));
        }
        let paint = self.paint;
        self.terminal.draw(|frame| view::draw(frame, state, paint)).map(drop)
    }

    /// Stops this program as Ctrl-Z does, and takes the screen again when it goes on.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        kill_process(getpid(), Signal::TSTP)?;
        begin()?;
        // Draws all of it again. To clear it would ask the terminal where the cursor is, and the answer
        // would go to who reads the keys.
        self.terminal.resize(self.area()?)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn begin() -> io::Result<()> {
    enable_raw_mode()?;
    OURS.store(true, Ordering::SeqCst);
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste).inspect_err(|_| give_back())
}

/// Best effort: the terminal may be gone.
fn give_back() {
    if OURS.swap(false, Ordering::SeqCst) {
        // Cleared first: some terminals mix the two screens up when they were resized meanwhile.
        let clear = Clear(ClearType::All);
        drop(execute!(io::stdout(), clear, DisableBracketedPaste, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// Reads keys on a thread of its own, which ends with the program: a read cannot be given up.
pub(crate) fn listen(out: UnboundedSender<Message>) {
    thread::spawn(move || {
        while let Ok(event) = read() {
            let message = match event {
                Event::Key(key) => Message::Key(key),
                Event::Paste(text) => Message::Paste(text),
                Event::Resize(width, height) => Message::Resize(width, height),
                Event::FocusGained | Event::FocusLost | Event::Mouse(_) => continue,
            };
            if out.send(message).is_err() {
                return;
            }
        }
    });
}
