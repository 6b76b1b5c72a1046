//! Keeping house: cleaning what is old, and copies of the record for backups.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{CleanPart, CleanReport, CleanRequest, CleanedPart, ToolError};
use model::Age;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, Input};
use crate::server::Shared;

/// Age from which on things go, where none is given.
const OLDER_THAN: Age = Age::days(30);

/// Request to clean.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CleanBody {
    /// Only what has been over for this long, as `30d` (the default) or `12h`
    older_than: Option<String>,
    /// Count only, and remove nothing
    #[serde(default)]
    dry_run: bool,
    /// Only these parts: runs, output, branches, deliveries, answers, events, audit
    only: Option<Vec<String>>,
}

/// Result of a cleaning.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cleaned {
    /// True if it was only counted
    dry_run: bool,
    /// Result for each part
    parts: Vec<CleanedView>,
}

/// Result for one part.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CleanedView {
    /// Part that was cleaned
    part: &'static str,
    /// Number of folders, files, branches or rows removed, or to be removed
    removed: u64,
    /// Bytes of their files; 0 for rows and branches
    bytes: u64,
    /// Archives that were written
    archives: Vec<String>,
    /// Why something old stays
    kept: Vec<String>,
}

impl From<CleanedPart> for CleanedView {
    fn from(done: CleanedPart) -> Self {
        let CleanedPart { part, removed, bytes, archives, kept } = done;
        Self { part: part.name(), removed, bytes, archives, kept }
    }
}

impl CleanBody {
    fn request(self) -> Result<CleanRequest, ToolError> {
        let age = match self.older_than {
            None => OLDER_THAN,
            Some(text) => text.parse().map_err(|error: model::age::InvalidAge| {
                ToolError::invalid(format!("`olderThan`: {error}")).detail("field", "olderThan")
            })?,
        };
        let mut parts: Vec<(CleanPart, Age)> = Vec::new();
        match self.only {
            None => parts.extend(CleanPart::ALL.map(|part| (part, age))),
            Some(names) => {
                for name in names {
                    let part = CleanPart::parse(&name).ok_or_else(|| no_part(&name))?;
                    if !parts.iter().any(|(known, _)| *known == part) {
                        parts.push((part, age));
                    }
                }
            }
        }
        Ok(CleanRequest { parts, dry_run: self.dry_run, by_operator: true })
    }
}

fn no_part(name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let known = CleanPart::ALL.map(CleanPart::name).join(", ");
    ToolError::invalid(format!("there is no part `{shown}` to clean"))
        .hint(format!("the parts are {known}"))
        .detail("field", "only")
}

pub(crate) async fn clean(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<CleanBody>,
) -> Answer<Json<Cleaned>> {
    let request = asked.request()?;
    let engine = shared.app.engine.clone();
    // A caller that leaves does not stop it half way.
    let cleaned = shared.tasks.spawn(async move { engine.clean(request).await });
    let CleanReport { dry_run, parts } = cleaned.await.map_err(ToolError::internal)??;
    Ok(Json(Cleaned { dry_run, parts: parts.into_iter().map(CleanedView::from).collect() }))
}

/// A copy of the record.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    /// Where it is; it belongs to whoever asked for it, and is removed after an hour
    file: String,
}

pub(crate) async fn snapshot(State(shared): State<Arc<Shared>>) -> Answer<Json<Snapshot>> {
    let file = shared.app.engine.snapshot().await?;
    Ok(Json(Snapshot { file: file.display().to_string() }))
}
