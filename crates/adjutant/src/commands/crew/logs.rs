//! `adjutant logs`: an agent's transcript, and what follows it.
//!
//! People see the steps that the server reads from the output; `--raw` and `--json` print the lines of the output
//! themselves.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use model::AgentId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};
use wire::agent_details::AgentDetails;
use wire::agents::{AgentStream, OutputPlace};
use wire::runs::{AgentOutput, AgentOutputLine, OutputStream};

use super::transcript::TranscriptWriter;
use crate::app::App;
use crate::cli::LogsArgs;
use crate::cli_error::CliError;
use crate::commands::progress::Progress;
use crate::commands::reconnect::Steady;
use crate::terminal::render::{dim, print_raw, print_raw_aside, print_text};

/// Seconds that a request waits for more output.
const WAIT_SECONDS: u32 = 30;
/// Pause before repeating a request that was answered at once.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Prints an agent's output, and follows it if asked to.
pub(crate) async fn run(app: &App, args: &LogsArgs) -> Result<(), CliError> {
    let mut steady = Steady::new(app).await?;
    let agent = steady.agent(&args.agent).await?;
    let tail = Tail::new(agent, args.attempt);
    let end = if args.follow { End::OfAgent } else { End::OfOutput };
    match (app.render.is_json(), args.raw) {
        (true, _) => print_pages(&mut steady, tail, end, print_json_lines).await,
        (false, true) => print_pages(&mut steady, tail, end, print_raw_lines).await,
        (false, false) => {
            let mut printer = StepPrinter::default();
            print_pages(&mut steady, tail, end, |page| printer.print(page)).await?;
            Ok(printer.finish()?)
        }
    }
}

/// Shows people an agent's transcript until the agent ends.
pub(crate) async fn follow(
    steady: &mut Steady<'_>,
    agent: AgentId,
    progress: &Progress,
) -> Result<(), CliError> {
    follow_with(StepPrinter::default(), steady, agent, progress).await
}

/// Shows people what an agent says and does, one line each, until the agent ends.
pub(crate) async fn follow_briefly(
    steady: &mut Steady<'_>,
    agent: AgentId,
    progress: &Progress,
) -> Result<(), CliError> {
    let printer = StepPrinter { writer: TranscriptWriter::brief(), ..StepPrinter::default() };
    follow_with(printer, steady, agent, progress).await
}

async fn follow_with(
    mut printer: StepPrinter,
    steady: &mut Steady<'_>,
    agent: AgentId,
    progress: &Progress,
) -> Result<(), CliError> {
    let tail = Tail::new(agent, None);
    let print = |page: &AgentStream| progress.aside(|| printer.print(page));
    print_pages(steady, tail, End::OfAgent, print).await?;
    Ok(progress.aside(|| printer.finish())?)
}

/// Where printing ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the output that there is now
    OfOutput,
    /// With the agent's last attempt
    OfAgent,
}

/// Reads pages one after the other, and prints each.
async fn print_pages<P: OutputPage>(
    steady: &mut Steady<'_>,
    mut tail: Tail,
    end: End,
    mut print: impl FnMut(&P) -> io::Result<()>,
) -> Result<(), CliError> {
    while let Some(page) = tail.next::<P>(steady, end).await? {
        print(&page)?;
        if end == End::OfOutput && !tail.has_moved {
            break;
        }
    }
    Ok(())
}

/// A part of an agent's output, as one of the routes answers it.
trait OutputPage: DeserializeOwned {
    /// Path of the route below the agent's, with the parameters that are always the same.
    const ROUTE: &'static str;

    fn next_place(&self) -> OutputPlace;
    fn is_empty(&self) -> bool;
    /// True if the attempt has no more output.
    fn is_complete(&self) -> bool;
}

impl OutputPage for AgentStream {
    const ROUTE: &'static str = "stream?whole=true&";

    fn next_place(&self) -> OutputPlace {
        self.next
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

impl OutputPage for AgentOutput {
    const ROUTE: &'static str = "output?";

    fn next_place(&self) -> OutputPlace {
        self.next
    }

    fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.complete
    }
}

/// A place in an agent's output that moves on.
#[derive(Debug)]
struct Tail {
    agent: AgentId,
    attempt: u32,
    /// True to end with its attempt
    is_single: bool,
    place: OutputPlace,
    /// True if the last page had any output, be it shown or not
    has_moved: bool,
}

/// Beginning of an attempt's output.
const BEGINNING: OutputPlace = OutputPlace { segment: 0, offset: 0 };

impl Tail {
    /// The beginning of an attempt's output, or of all of them.
    fn new(agent: AgentId, attempt: Option<u32>) -> Self {
        let (is_single, attempt) = (attempt.is_some(), attempt.unwrap_or(1));
        Self { agent, attempt, is_single, place: BEGINNING, has_moved: false }
    }

    /// Reads the next page, which may be empty; nothing where no more output will come.
    async fn next<P: OutputPage>(
        &mut self,
        steady: &mut Steady<'_>,
        end: End,
    ) -> Result<Option<P>, CliError> {
        let agent = format!("/api/agents/{}", self.agent);
        let waits = end == End::OfAgent;
        loop {
            let OutputPlace { segment, offset } = self.place;
            let mut path = format!(
                "{agent}/{}attempt={}&segment={segment}&offset={offset}",
                P::ROUTE,
                self.attempt
            );
            if waits {
                // Writing to a String cannot fail.
                _ = write!(path, "&waitSeconds={WAIT_SECONDS}");
            }
            let asked = Instant::now();
            let page = steady.fetch::<P>(&path).await?.into_value();
            self.has_moved = page.next_place() != self.place;
            self.place = page.next_place();
            if !page.is_empty() || !page.is_complete() {
                // An empty answer came at once although the request was to wait: the server is ending.
                if page.is_empty() && waits && asked.elapsed() < MIN_POLL_INTERVAL {
                    sleep(MIN_POLL_INTERVAL).await;
                }
                return Ok(Some(page));
            }
            let newest = steady.fetch::<AgentDetails>(&agent).await?.attempt;
            if self.is_single || newest <= self.attempt {
                return Ok(None);
            }
            (self.attempt, self.place) = (self.attempt + 1, BEGINNING);
        }
    }
}

/// A line of output with the attempt that it belongs to.
#[derive(Debug, Serialize)]
struct JsonLine<'a> {
    #[serde(flatten)]
    line: &'a AgentOutputLine,
    attempt: u32,
}

/// Prints lines for programs, an object each.
fn print_json_lines(page: &AgentOutput) -> io::Result<()> {
    let mut text = String::new();
    for line in &page.lines {
        let line = JsonLine { line, attempt: page.attempt };
        text.push_str(&serde_json::to_string(&line).map_err(io::Error::other)?);
        text.push('\n');
    }
    print_raw(text.as_bytes())
}

/// Prints lines as the agent wrote them, each to the stream that it came from.
fn print_raw_lines(page: &AgentOutput) -> io::Result<()> {
    page.lines.iter().try_for_each(|line| {
        let text = format!("{}\n", line.text);
        match line.stream {
            OutputStream::Out => print_raw(text.as_bytes()),
            OutputStream::Err => print_raw_aside(text.as_bytes()),
            // Input of the agent is not its output.
            OutputStream::In => Ok(()),
        }
    })
}

/// Prints steps for people, with a heading before each further attempt.
#[derive(Debug)]
struct StepPrinter {
    writer: TranscriptWriter,
    /// Attempt that was printed last
    attempt: u32,
}

impl Default for StepPrinter {
    fn default() -> Self {
        Self { writer: TranscriptWriter::default(), attempt: 1 }
    }
}

impl StepPrinter {
    fn print(&mut self, page: &AgentStream) -> io::Result<()> {
        let mut lines = Vec::new();
        if !page.items.is_empty() && self.attempt < page.attempt {
            lines.extend(self.writer.finish());
            lines.push(dim(format!("── attempt {} ──", page.attempt)));
            self.attempt = page.attempt;
        }
        lines.extend(page.items.iter().flat_map(|step| self.writer.write(step)));
        print_lines(&lines)
    }

    fn finish(&mut self) -> io::Result<()> {
        print_lines(&self.writer.finish().into_iter().collect::<Vec<_>>())
    }
}

fn print_lines(lines: &[String]) -> io::Result<()> {
    if lines.is_empty() { Ok(()) } else { print_text(&lines.join("\n")) }
}
