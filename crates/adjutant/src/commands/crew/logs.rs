//! `adjutant logs`: what an agent says and does, and what it says next.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::stream::Teller;
use crate::app::{App, query};
use crate::cli::LogsArgs;
use crate::cli_error::Trouble;
use crate::commands::reconnect::Steady;
use crate::terminal::progress::Progress;
use crate::terminal::render::{dim, print_raw, print_raw_aside, print_text};

/// Seconds that a request waits for more output.
const WAIT_SECONDS: u32 = 30;
/// Pause before repeating a request that was answered at once.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows an agent's output, and goes on with it if asked to.
pub(crate) async fn run(app: &App, args: &LogsArgs) -> Result<(), Trouble> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent(&args.agent).await?;
    let mut tail = Tail::new(agent, args.attempt);
    let mut printer = match (app.render.is_json(), args.raw) {
        (true, _) => Printer::Json,
        (false, true) => Printer::Raw,
        (false, false) => Printer::people(),
    };
    let wait = if args.follow { WAIT_SECONDS } else { 0 };
    while let Some(lines) = tail.next(&mut steady, wait).await? {
        if lines.is_empty() && !args.follow {
            break;
        }
        printer.print(&lines, tail.attempt)?;
    }
    Ok(printer.end()?)
}

/// Shows people an agent's output until the agent ends.
pub(crate) async fn follow(
    steady: &mut Steady<'_>,
    agent: &str,
    progress: &Progress,
) -> Result<(), Trouble> {
    let mut tail = Tail::new(agent.to_owned(), None);
    let mut printer = Printer::people();
    while let Some(lines) = tail.next(steady, WAIT_SECONDS).await? {
        progress.aside(|| printer.print(&lines, tail.attempt))?;
    }
    Ok(progress.aside(|| printer.end())?)
}

/// A place in an agent's output that moves on.
#[derive(Debug)]
struct Tail {
    agent: String,
    attempt: u64,
    /// True to end with its attempt
    only: bool,
    segment: u64,
    offset: u64,
}

impl Tail {
    /// The beginning of an attempt's output, or of all of them.
    fn new(agent: String, attempt: Option<u32>) -> Self {
        let (only, attempt) = (attempt.is_some(), attempt.map_or(1, u64::from));
        Self { agent, attempt, only, segment: 0, offset: 0 }
    }

    /// The next lines, none where none have come so far; nothing where no more will come.
    async fn next(
        &mut self,
        steady: &mut Steady<'_>,
        wait: u32,
    ) -> Result<Option<Vec<Value>>, Trouble> {
        let agent = format!("/api/agents/{}", self.agent);
        loop {
            let path = query(
                &format!("{agent}/output"),
                [
                    ("attempt", Some(self.attempt.to_string())),
                    ("segment", Some(self.segment.to_string())),
                    ("offset", Some(self.offset.to_string())),
                    ("waitSeconds", (wait > 0).then(|| wait.to_string())),
                ],
            );
            let asked = Instant::now();
            let mut page = steady.get(&path).await?;
            let place = |key: &str| page["next"][key].as_u64();
            (self.segment, self.offset) =
                (place("segment").unwrap_or(self.segment), place("offset").unwrap_or(self.offset));
            let lines = match page["lines"].take() {
                Value::Array(lines) => lines,
                _ => Vec::new(),
            };
            if !lines.is_empty() || page["complete"] != true {
                // Told at once that there is nothing, though it was to be waited: the server ends.
                if lines.is_empty() && wait > 0 && asked.elapsed() < PAUSE {
                    sleep(PAUSE).await;
                }
                return Ok(Some(lines));
            }
            let newest = steady.get(&agent).await?["attempt"].as_u64().unwrap_or_default();
            if self.only || newest <= self.attempt {
                return Ok(None);
            }
            (self.attempt, self.segment, self.offset) = (self.attempt + 1, 0, 0);
        }
    }
}

/// Output of lines.
#[derive(Debug)]
enum Printer {
    /// For programs, an object a line
    Json,
    /// As they came
    Raw,
    /// For people
    People {
        teller: Teller,
        /// The attempt that was shown last
        attempt: u64,
    },
}

impl Printer {
    fn people() -> Self {
        Self::People { teller: Teller::default(), attempt: 1 }
    }

    fn print(&mut self, lines: &[Value], of: u64) -> io::Result<()> {
        match self {
            Self::Json => {
                let mut text = String::new();
                for line in lines {
                    let mut line = line.clone();
                    line["attempt"] = json!(of);
                    text.push_str(&line.to_string());
                    text.push('\n');
                }
                print_raw(text.as_bytes())
            }
            Self::Raw => lines.iter().try_for_each(|line| {
                let text = format!("{}\n", line["text"].as_str().unwrap_or_default());
                match line["stream"].as_str() {
                    Some("out") => print_raw(text.as_bytes()),
                    Some("err") => print_raw_aside(text.as_bytes()),
                    // What it was told is not its output.
                    _ => Ok(()),
                }
            }),
            Self::People { teller, attempt } => {
                let mut told = Vec::new();
                if !lines.is_empty() && *attempt < of {
                    told.extend(teller.rest());
                    told.push(dim(format!("── attempt {of} ──")));
                    *attempt = of;
                }
                told.extend(lines.iter().flat_map(|line| teller.tell(line)));
                print_lines(&told)
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self {
            Self::Json | Self::Raw => Ok(()),
            Self::People { teller, .. } => print_lines(&teller.rest()),
        }
    }
}

fn print_lines(lines: &[String]) -> io::Result<()> {
    if lines.is_empty() { Ok(()) } else { print_text(&lines.join("\n")) }
}
