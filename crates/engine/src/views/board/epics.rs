//! Epics with how far they are.

use std::collections::HashMap;

use model::money::Usd;
use model::task::TaskStateName;
use model::{Column, EpicId};
use store::{BoardFilter, Epic, EpicPage, Tx};
use wire::epics::{ColumnCounts, EpicRow, Epics};

use crate::core::error::ToolError;
use crate::core::scope::ListScope;
use crate::tasks::epic::find_epic;
use crate::views::service::Views;

/// Counts tasks by column, and the completed ones.
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

impl Views {
    /// Lists epics, oldest first.
    pub async fn epics(
        &self,
        scope: ListScope,
        after: i64,
        limit: u32,
    ) -> Result<Epics, ToolError> {
        let looking = self.store.scan(move |tx| {
            let page =
                tx.epics_in_state(scope.choose(EpicPage::Open, EpicPage::All), after, limit)?;
            let costs: HashMap<EpicId, Usd> = tx.epic_costs()?.into_iter().collect();
            let row = |epic: Epic| row(tx, epic, &costs);
            let epics = page.items.into_iter().map(row).collect::<Result<_, _>>()?;
            Ok(Epics { epics, next_cursor: page.next })
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
