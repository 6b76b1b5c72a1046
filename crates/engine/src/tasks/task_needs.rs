//! Dependencies of tasks. They never form a cycle.

use model::task::TaskRef;
use store::{Task, Tx};

use crate::call::cx::{WriteCx, find_task};
use crate::core::error::ToolError;

/// Makes a task need others, and says whether that is news. The caller tells of it.
pub(crate) fn add(
    cx: &mut WriteCx<'_, '_>,
    task: &mut Task,
    needs: &[TaskRef],
) -> Result<bool, ToolError> {
    let mut known = cx.tx.task_needs(task.number)?;
    let before = known.len();
    for name in needs {
        let need = find_task(cx.tx, name)?.number;
        if known.contains(&need) {
            continue;
        }
        refuse_cycle(cx.tx, task.number, need)?;
        cx.tx.task_add_need(task.number, need)?;
        known.push(need);
        task.needs += 1;
    }
    Ok(known.len() > before)
}

fn refuse_cycle(tx: &Tx<'_>, number: i64, needs: i64) -> Result<(), ToolError> {
    let Some(cycle) = model::graph::cycle(number, needs, |at| tx.task_needs(at))? else {
        return Ok(());
    };
    let names: Vec<String> =
        cycle.into_iter().map(TaskRef::Number).map(|name| name.to_string()).collect();
    Err(ToolError::conflict(format!("{} would be a cycle", names.join(" → ")))
        .detail("cycle", names))
}
