//! Calls tools for every interface: counted, and watched while they wait.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::LazyLock;
use std::task::Poll;
use std::time::Duration;

use engine::{Call, Failure, Output, Principal, Progress, ToolError};
use http::header::{HeaderMap, HeaderName};
use model::AgentId;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::registry::Entry;
use crate::shared::Shared;

/// Header with the idempotency key.
pub(crate) const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request to use a tool, as a face has understood it.
pub(crate) struct ToolRequest {
    pub(crate) principal: Principal,
    /// In whose name, if the operator acts
    pub(crate) as_agent: Option<AgentId>,
    pub(crate) entry: &'static Entry,
    pub(crate) input: Value,
    /// Idempotency key
    pub(crate) key: Option<String>,
}

/// The key that a request carries. Whether it is a good one is for the engine to say, so what cannot be
/// one is passed on in a form that is not: several in one line, and foreign bytes as a mark.
pub(crate) fn key_of(headers: &HeaderMap) -> Option<String> {
    let keys = headers.get_all(KEY).iter();
    let keys: Vec<_> = keys.map(|key| String::from_utf8_lossy(key.as_bytes())).collect();
    (!keys.is_empty()).then(|| keys.join(", "))
}

/// Calls a tool and counts the call.
async fn call(
    shared: &Shared,
    request: ToolRequest,
    progress: &Progress,
) -> Result<Output, Failure> {
    let ToolRequest { principal, as_agent, entry, input, key } = request;
    let began = Instant::now();
    let call = Call { principal, as_agent, tool: entry.def, input, key };
    let (agent, tool) = (as_agent.or_else(|| agent_of(principal)), entry.def.name);
    let answer = match caught(shared.app.engine.call(call, progress)).await {
        Ok(answer) => answer,
        Err(panic) => Err(Failure { error: ToolError::internal(panic), agent, tool }),
    };
    shared.counters.count(entry, answer.as_ref().err().map(|f| f.error.code), began.elapsed());
    answer
}

/// The agent that a principal is, if it is one.
pub(crate) const fn agent_of(principal: Principal) -> Option<AgentId> {
    match principal {
        Principal::Agent(id) => Some(id),
        Principal::Operator | Principal::Viewer => None,
    }
}

/// A bug that must not leave its caller without an answer.
#[derive(Debug, thiserror::Error)]
#[error("a tool panicked: {0}")]
struct Panic(String);

async fn caught<T>(call: impl Future<Output = T>) -> Result<T, Panic> {
    let mut call = pin!(call);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => {
            let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
            let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
            Poll::Ready(Err(Panic(words.unwrap_or_default())))
        }
    })
    .await
}

/// Calls a tool that does not wait.
pub(crate) async fn at_once(shared: &Shared, request: ToolRequest) -> Result<Output, Failure> {
    static NOTHING: LazyLock<Progress> = LazyLock::new(Progress::default);
    call(shared, request, &NOTHING).await
}

/// Calls a tool. If it waits, `gone` ends the waiting, and so does the end of the server; `report`
/// hears now and then how long it has waited.
pub(crate) async fn watch<R: Future<Output = ()>>(
    shared: &Shared,
    request: ToolRequest,
    gone: impl Future<Output = ()>,
    report: Option<impl Fn(Duration) -> R>,
) -> Result<Output, Failure> {
    if !request.entry.def.waits() {
        return at_once(shared, request).await;
    }
    let ended: CancellationToken = shared.app.shutdown.child_token();
    let (sender, mut seconds) = mpsc::channel(1);
    let progress = Progress { gone: ended.clone(), report: report.is_some().then_some(sender) };
    let mut answer = pin!(call(shared, request, &progress));
    let mut gone = pin!(gone);
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            () = &mut gone, if !ended.is_cancelled() => ended.cancel(),
            Some(waited) = seconds.recv() => if let Some(report) = &report {
                report(waited).await;
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        assert_eq!(caught(async { 1 }).await.unwrap(), 1);
        let panic = caught(async { panic!("at {}", 7) }).await;
        let panic: Result<(), Panic> = panic;
        assert_eq!(panic.unwrap_err().to_string(), "a tool panicked: at 7");
    }
}
