// Sample tasks for tests.
import type { ColumnName, TaskRow } from '../../api/types';

export function sampleRow(number: number, column: ColumnName = 'ready', priority = 2): TaskRow {
  return {
    id: `task_${number}`, number, slug: `task-${number}`, title: `Task ${number}`, state: 'PENDING', storedState: 'pending', column, priority,
    session: 'default', epic: null, needs: [], neededBy: 0, agent: null, merge: null, costUsd: null, updatedAt: '2026-11-15T12:00:00Z',
  };
}
