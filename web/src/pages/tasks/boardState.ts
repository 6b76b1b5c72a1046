// State of the board: columns of rows, loaded page by page. Pure functions, so that events, pages
// and drags can be applied in any order.
import type { BoardView, ColumnName, TaskRow, Tasks } from '../../api/types';
import { COLUMNS, type StoredState } from './columns';

export interface BoardColumn {
  /** Number of tasks on the server, loaded or not. */
  readonly count: number;
  readonly rows: readonly TaskRow[];
  /** Cursor of the next page; null if everything is loaded. */
  readonly nextCursor: string | null;
}

export interface Board {
  readonly columns: Readonly<Record<ColumnName, BoardColumn>>;
  readonly truncated: boolean;
}

type Columns = Record<ColumnName, BoardColumn>;

const EMPTY_COLUMN: BoardColumn = { count: 0, rows: [], nextCursor: null };

function mapColumns(build: (name: ColumnName) => BoardColumn): Columns {
  return { blocked: build('blocked'), ready: build('ready'), inProgress: build('inProgress'), inReview: build('inReview'), done: build('done') };
}

/** Order of a column: by priority, then newest first; Done only newest first. */
export function compareRows(column: ColumnName, a: TaskRow, b: TaskRow): number {
  if (column === 'done') return b.number - a.number;
  return a.priority - b.priority || b.number - a.number;
}

/** Converts the server's first page of each column. */
export function buildBoard(view: BoardView): Board {
  const columns = mapColumns((name) => {
    const column = view.columns.find((one) => one.name === name);
    return column === undefined ? EMPTY_COLUMN : { count: column.count, rows: column.tasks, nextCursor: column.nextCursor };
  });
  return { columns, truncated: view.truncated };
}

/** Replaces the first rows and keeps those behind them, so that the scroll position stays valid. */
export function mergeHead(before: Board, view: BoardView): Board {
  const fresh = buildBoard(view);
  const seen = new Set(COLUMNS.flatMap((name) => fresh.columns[name].rows.map((row) => row.number)));
  const columns = mapColumns((name) => {
    const [head, old] = [fresh.columns[name], before.columns[name]];
    const last = head.rows.at(-1);
    if (head.nextCursor === null || last === undefined) return head;
    const tail = old.rows.filter((row) => compareRows(name, row, last) > 0 && !seen.has(row.number));
    return tail.length === 0 ? head : { count: head.count, rows: [...head.rows, ...tail], nextCursor: old.nextCursor };
  });
  return { columns, truncated: fresh.truncated };
}

/** Appends a page to a column. Rows that are already there are not repeated. */
export function appendPage(before: Board, name: ColumnName, page: Tasks): Board {
  const column = before.columns[name];
  const seen = new Set(column.rows.map((row) => row.number));
  const rows = [...column.rows, ...page.tasks.filter((row) => !seen.has(row.number))];
  return { ...before, columns: { ...before.columns, [name]: { ...column, rows, nextCursor: page.nextCursor } } };
}

function removeRow(column: BoardColumn, number: number): BoardColumn {
  return column.rows.some((row) => row.number === number) ? { ...column, rows: column.rows.filter((row) => row.number !== number) } : column;
}

/** Inserts a row in order, unless its position is behind the loaded rows. */
function insertRow(name: ColumnName, column: BoardColumn, row: TaskRow): BoardColumn {
  const at = column.rows.findIndex((one) => compareRows(name, one, row) > 0);
  if (at < 0 && column.nextCursor !== null) return column;
  const rows = at < 0 ? [...column.rows, row] : column.rows.toSpliced(at, 0, row);
  return { ...column, rows };
}

/** Replaces rows wherever they were. Counts change only with the next head. */
export function patchRows(before: Board, rows: readonly TaskRow[]): Board {
  let columns: Columns = { ...before.columns };
  for (const row of rows) {
    columns = mapColumns((name) => removeRow(columns[name], row.number));
    columns[row.column] = insertRow(row.column, columns[row.column], row);
  }
  return { ...before, columns };
}

export function findRow(board: Board, number: number): TaskRow | undefined {
  for (const name of COLUMNS) {
    const row = board.columns[name].rows.find((one) => one.number === number);
    if (row !== undefined) return row;
  }
  return undefined;
}

const STATE_BY_COLUMN: Readonly<Record<ColumnName, StoredState>> = {
  blocked: 'blocked', ready: 'pending', inProgress: 'in_progress', inReview: 'review', done: 'completed',
};

/** Returns a task in the state that the move will give it. */
export function moveRow(row: TaskRow, to: ColumnName): TaskRow {
  return { ...row, column: to, storedState: STATE_BY_COLUMN[to] };
}

/** Moves a row to its column, and adjusts both counts. */
export function placeRow(before: Board, row: TaskRow): Board {
  const old = findRow(before, row.number);
  const board = patchRows(before, [row]);
  if (old === undefined || old.column === row.column) return board;
  const withCount = (name: ColumnName, by: number): BoardColumn => ({ ...board.columns[name], count: Math.max(0, board.columns[name].count + by) });
  return { ...board, columns: { ...board.columns, [old.column]: withCount(old.column, -1), [row.column]: withCount(row.column, 1) } };
}

/** Total number of tasks. */
export function countTasks(board: Board): number {
  return COLUMNS.reduce((sum, name) => sum + board.columns[name].count, 0);
}

/**
 * Finds the neighbouring task: up or down in the column, sideways in the nearest column with tasks.
 */
export function findNeighbour(board: Board, openColumns: readonly ColumnName[], number: number | null, direction: 'up' | 'down' | 'left' | 'right'): TaskRow | undefined {
  const row = number === null ? undefined : findRow(board, number);
  if (row === undefined) {
    const first = openColumns.find((name) => board.columns[name].rows.length > 0);
    return first === undefined ? undefined : board.columns[first].rows[0];
  }
  const rows = board.columns[row.column].rows;
  const at = rows.findIndex((one) => one.number === row.number);
  if (direction === 'up' || direction === 'down') return rows[at + (direction === 'down' ? 1 : -1)];
  const columns = direction === 'right' ? openColumns : openColumns.toReversed();
  const behind = columns.slice(columns.indexOf(row.column) + 1);
  const next = behind.find((name) => board.columns[name].rows.length > 0);
  if (next === undefined) return undefined;
  const beside = board.columns[next].rows;
  return beside[Math.min(at, beside.length - 1)];
}
