// Columns of the board, and the filter of the tasks page.
import type { ColumnName, TaskRow } from '../../api/types';

export const COLUMNS = ['blocked', 'ready', 'inProgress', 'inReview', 'done'] as const satisfies readonly ColumnName[];

export type StoredState = TaskRow['storedState'];

/** Filter of the tasks that are shown; an empty field filters nothing. */
export interface TaskFilter {
  readonly epic: string;
  readonly q: string;
}
