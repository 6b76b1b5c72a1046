//! Cleaning of old data, and copies of the record for backups.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use engine::{CleanRequest, ToolError};
use model::Age;

use wire::cleanup::{CleanPart, CleanReport, CleanupRequest, SnapshotFile};

use crate::answer::{Answer, Input};
use crate::shared::Shared;

/// Age from which on things go, where none is given.
const OLDER_THAN: Age = Age::days(30);

fn clean_request(asked: CleanupRequest) -> Result<CleanRequest, ToolError> {
    let age = match asked.older_than {
        None => OLDER_THAN,
        Some(text) => text.parse().map_err(|error: model::age::InvalidAge| {
            ToolError::invalid(format!("`olderThan`: {error}")).detail("field", "olderThan")
        })?,
    };
    let mut parts: Vec<(CleanPart, Age)> = Vec::new();
    match asked.only {
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
    Ok(CleanRequest { parts, dry_run: asked.dry_run, by_operator: true })
}

fn no_part(name: &str) -> ToolError {
    let shown: String = name.chars().take(80).collect();
    let known = CleanPart::ALL.map(CleanPart::name).join(", ");
    ToolError::invalid(format!("unknown part `{shown}`"))
        .hint(format!("the parts are {known}"))
        .detail("field", "only")
}

pub(crate) async fn clean(
    State(shared): State<Arc<Shared>>,
    Input(asked): Input<CleanupRequest>,
) -> Answer<Json<CleanReport>> {
    let request = clean_request(asked)?;
    let engine = shared.app.engine.clone();
    // A caller that leaves does not stop it half way.
    let cleaned = shared.tasks.spawn(async move { engine.clean(request).await });
    Ok(Json(cleaned.await.map_err(ToolError::internal)??))
}

pub(crate) async fn snapshot(State(shared): State<Arc<Shared>>) -> Answer<Json<SnapshotFile>> {
    let file = shared.app.engine.snapshot().await?;
    Ok(Json(SnapshotFile { file: file.display().to_string() }))
}
