//! Commands of the project that run supervised as agents do: heard to their end, by whichever server is there then.

use std::collections::VecDeque;
use std::time::Duration;

use host::files::FileError;
use host::run::{ExitRecord, Notice, Position, RunFolder, RunStatus, Stream};
use tokio_util::sync::CancellationToken;

use crate::core::error::ToolError;
use crate::core::handle::Core;
use crate::core::redact::LineRedactor;

/// Bytes kept of the end of its output.
const TAIL: usize = 16 * 1024;
/// Bytes read at once.
const READ_CHUNK: usize = 256 * 1024;
/// Wait for a supervisor that is about to answer.
const ATTACH_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Outcome of a started command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandEnd {
    /// It ended
    Ended(ExitRecord),
    /// It never began, or nobody saw it end; it may be begun again
    Lost,
    /// The server ends; the next one goes on
    Leaving,
}

/// Waits until a run has ended, and says how.
pub(crate) async fn end_of(
    folder: &RunFolder,
    shutdown: &CancellationToken,
) -> Result<CommandEnd, ToolError> {
    if !folder.path().is_dir() {
        return Ok(CommandEnd::Lost);
    }
    loop {
        match folder.standing().map_err(ToolError::internal)? {
            RunStatus::Ended(exit) => return Ok(CommandEnd::Ended(exit)),
            RunStatus::Running => {
                if shutdown.run_until_cancelled(listen(folder)).await.is_none() {
                    return Ok(CommandEnd::Leaving);
                }
            }
            RunStatus::NotBegun => {
                if folder.give_up().map_err(ToolError::internal)? {
                    return Ok(CommandEnd::Lost);
                }
            }
            RunStatus::Gone => {
                let ended = folder.sweep().map_err(ToolError::internal)?;
                tracing::info!(folder = %folder.path().display(), ended, "command ended without a record of its exit");
                return Ok(CommandEnd::Lost);
            }
        }
    }
}

/// Ends a run that nobody wants to hear of any more, and waits for its end.
pub(crate) async fn stop(engine: &Core, folder: &RunFolder, why: &str) -> Result<(), ToolError> {
    if !folder.path().is_dir() {
        return Ok(());
    }
    if folder.standing().map_err(ToolError::internal)? == RunStatus::Running {
        let killed = match folder.connect().await {
            Ok(mut control) => control.kill(why).await,
            Err(error) => Err(error),
        };
        // What it runs may have taken its socket away.
        if killed.is_err() {
            let folder = folder.clone();
            let asked = move || folder.terminate_supervisor().map_err(ToolError::internal);
            engine.outside(move |_| asked()).await?;
        }
    }
    end_of(folder, &CancellationToken::new()).await.map(drop)
}

/// Listens to a supervisor until it is gone.
async fn listen(folder: &RunFolder) {
    match folder.connect().await {
        Ok(mut control) => while !matches!(control.next().await, Some(Notice::Exit {}) | None) {},
        // It is about to be there, or about to be gone.
        Err(_) => tokio::time::sleep(ATTACH_POLL_INTERVAL).await,
    }
}

/// The end of a run's output.
pub(crate) fn tail(folder: &RunFolder) -> Result<String, FileError> {
    let mut reader = folder.output(Position::default());
    let (mut kept, mut size) = (VecDeque::new(), 0);
    let mut redactor = LineRedactor::default();
    loop {
        let mut lines = reader.next(READ_CHUNK)?;
        let last = lines.is_empty();
        if last {
            lines = reader.finish();
        }
        for line in lines.into_iter().filter(|line| line.stream != Stream::In) {
            let text = redactor.line(line.text);
            size += text.len() + 1;
            kept.push_back(text);
            while size > TAIL && kept.len() > 1 {
                size -= kept.pop_front().map_or(0, |line: String| line.len() + 1);
            }
        }
        if last {
            break;
        }
    }
    let text: Vec<String> = kept.into();
    let text = text.join("\n");
    let mut from = text.len().saturating_sub(TAIL);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    Ok(text.get(from..).unwrap_or_default().to_owned())
}
