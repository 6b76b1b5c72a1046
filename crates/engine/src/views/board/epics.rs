//! Epics with how far they are.

use std::collections::HashMap;

use model::money::Usd;
use model::task::TaskStateName;
use model::{AgentId, Column, EpicId, EpicState, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{BoardFilter, Epic, EpicPage, Tx};

use crate::core::engine::Engine;
use crate::core::error::ToolError;
use crate::tools::epic::find_epic;

/// How many tasks stand in each column.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ColumnCounts {
    /// Held up
    pub blocked: i64,
    /// Anybody may begin them
    pub ready: i64,
    /// Being worked on
    pub in_progress: i64,
    /// To be looked at
    pub in_review: i64,
    /// Completed, failed or cancelled
    pub done: i64,
}

impl ColumnCounts {
    /// How many stand in a column.
    pub const fn of(&self, column: Column) -> i64 {
        match column {
            Column::Blocked => self.blocked,
            Column::Ready => self.ready,
            Column::InProgress => self.in_progress,
            Column::InReview => self.in_review,
            Column::Done => self.done,
        }
    }

    const fn add(&mut self, column: Column, count: i64) {
        match column {
            Column::Blocked => self.blocked += count,
            Column::Ready => self.ready += count,
            Column::InProgress => self.in_progress += count,
            Column::InReview => self.in_review += count,
            Column::Done => self.done += count,
        }
    }
}

/// How many tasks each column has, and how many of all are completed.
pub(super) fn count(tx: &Tx<'_>, filter: &BoardFilter) -> Result<(ColumnCounts, i64), ToolError> {
    let (states, waiting) = tx.board_counts(filter)?;
    let (mut counts, mut completed) = (ColumnCounts::default(), 0);
    for (state, count) in states {
        counts.add(state.column(0), count);
        if state == TaskStateName::Completed {
            completed = count;
        }
    }
    counts.add(Column::Ready, -waiting);
    counts.add(Column::Blocked, waiting);
    Ok((counts, completed))
}

/// An epic and how far it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicRow {
    /// Its id
    pub id: EpicId,
    /// Its place among all epics
    pub number: i64,
    /// What it is called
    pub title: String,
    /// What it is about
    pub description: Option<String>,
    /// Where it stands
    pub state: EpicState,
    /// How many of its tasks stand in each column
    pub counts: ColumnCounts,
    /// How many tasks it has
    pub tasks: i64,
    /// How many of them are completed
    pub done: i64,
    /// What its agents have cost; null where none has said so
    pub cost_usd: Option<f64>,
    /// Who leads it; null is nobody
    pub supervisor_id: Option<AgentId>,
    /// When it was made
    pub created_at: Timestamp,
    /// When it last changed
    pub updated_at: Timestamp,
}

/// A page of epics.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EpicsView {
    /// The epics, oldest first
    pub epics: Vec<EpicRow>,
    /// Where the next page begins, if there is one
    pub next_cursor: Option<i64>,
}

impl Engine {
    /// Lists epics, oldest first.
    pub async fn epics(
        &self,
        which: EpicPage,
        after: i64,
        limit: u32,
    ) -> Result<EpicsView, ToolError> {
        let looking = self.store.scan(move |tx| {
            let page = tx.epics_standing(which, after, limit)?;
            let costs: HashMap<EpicId, Usd> = tx.epic_costs()?.into_iter().collect();
            let row = |epic: Epic| row(tx, epic, &costs);
            let epics = page.items.into_iter().map(row).collect::<Result<_, _>>()?;
            Ok(EpicsView { epics, next_cursor: page.next })
        });
        looking.await
    }

    /// One epic.
    pub async fn epic(&self, id: EpicId) -> Result<EpicRow, ToolError> {
        let looking = self.store.scan(move |tx| {
            let epic = find_epic(tx, id)?;
            row(tx, epic, &tx.epic_costs()?.into_iter().collect())
        });
        looking.await
    }
}

fn row(tx: &Tx<'_>, epic: Epic, costs: &HashMap<EpicId, Usd>) -> Result<EpicRow, ToolError> {
    let filter = BoardFilter { epic: Some(epic.id), ..BoardFilter::default() };
    let (counts, done) = count(tx, &filter)?;
    let tasks = Column::ALL.into_iter().map(|column| counts.of(column)).sum();
    let supervisor = tx.agent_supervising(epic.id)?;
    Ok(EpicRow {
        counts,
        tasks,
        done,
        cost_usd: costs.get(&epic.id).map(|cost| cost.dollars()),
        supervisor_id: supervisor.map(|agent| agent.id),
        id: epic.id,
        number: epic.number,
        title: epic.title,
        description: epic.description,
        state: epic.state,
        created_at: epic.created_at,
        updated_at: epic.updated_at,
    })
}
