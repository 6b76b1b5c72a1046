//! How every face calls a tool: counted, and watched while it waits.

use std::pin::pin;
use std::sync::LazyLock;

use engine::{Call, Failure, Output, Principal, Progress};
use model::AgentId;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::registry::Entry;
use crate::server::Shared;

/// A wish to use a tool, as a face has understood it.
pub(crate) struct Wish {
    pub(crate) principal: Principal,
    /// In whose name, if the operator acts
    pub(crate) as_agent: Option<AgentId>,
    pub(crate) entry: &'static Entry,
    pub(crate) input: Value,
}

/// Calls a tool and counts the call.
async fn call(shared: &Shared, wish: Wish, progress: &Progress) -> Result<Output, Failure> {
    let Wish { principal, as_agent, entry, input } = wish;
    let began = Instant::now();
    let call = Call { principal, as_agent, tool: entry.def, input };
    let answer = shared.app.engine.call(call, progress).await;
    shared.metrics.count(entry.index, answer.as_ref().err().map(|f| f.error.code), began.elapsed());
    answer
}

/// Calls a tool. If it waits, `gone` ends the waiting, and so does the end of the server; `report`
/// hears now and then for how many seconds it has waited.
pub(crate) async fn watch<R: Future<Output = ()>>(
    shared: &Shared,
    wish: Wish,
    gone: impl Future<Output = ()>,
    report: Option<impl Fn(u64) -> R>,
) -> Result<Output, Failure> {
    if !wish.entry.def.waits() {
        static AT_ONCE: LazyLock<Progress> = LazyLock::new(Progress::default);
        return call(shared, wish, &AT_ONCE).await;
    }
    let ended: CancellationToken = shared.app.shutdown.child_token();
    let (sender, mut seconds) = mpsc::channel(1);
    let progress =
        Progress { gone: ended.clone(), report: report.is_some().then_some(sender) };
    let mut answer = pin!(call(shared, wish, &progress));
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
