// State of the board: columns of rows, loaded page by page. Pure functions, so that events, pages
// and drags can be applied in any order.
import type { BoardView, ColumnName, TaskRow, Tasks } from '../../api/types';
import { COLUMNS, type StoredState } from './columns';

export interface BoardColumn {
  /** Number of tasks on the server, loaded or not. */
  readonly count: number;
  readonly rows: readonly TaskRow[];
  /** Cursor of the next page; null if everything is loaded. */
  readonly next: string | null;
}

export interface Board {
  readonly columns: Readonly<Record<ColumnName, BoardColumn>>;
  readonly truncated: boolean;
}

type Columns = Record<ColumnName, BoardColumn>;

const NONE: BoardColumn = { count: 0, rows: [], next: null };

function everyColumn(make: (name: ColumnName) => BoardColumn): Columns {
  return { blocked: make('blocked'), ready: make('ready'), inProgress: make('inProgress'), inReview: make('inReview'), done: make('done') };
}

/** Order of a column: by priority, then newest first; Done only newest first. */
export function compare(column: ColumnName, a: TaskRow, b: TaskRow): number {
  if (column === 'done') return b.number - a.number;
  return a.priority - b.priority || b.number - a.number;
}

/** Converts the server's first page of each column. */
export function fromView(view: BoardView): Board {
  const columns = everyColumn((name) => {
    const column = view.columns.find((one) => one.name === name);
    return column === undefined ? NONE : { count: column.count, rows: column.tasks, next: column.nextCursor };
  });
  return { columns, truncated: view.truncated };
}

/** Replaces the first rows and keeps those behind them, so that the scroll position stays valid. */
export function mergeHead(before: Board, view: BoardView): Board {
  const fresh = fromView(view);
  const seen = new Set(COLUMNS.flatMap((name) => fresh.columns[name].rows.map((row) => row.number)));
  const columns = everyColumn((name) => {
    const [head, old] = [fresh.columns[name], before.columns[name]];
    const last = head.rows.at(-1);
    if (head.next === null || last === undefined) return head;
    const tail = old.rows.filter((row) => compare(name, row, last) > 0 && !seen.has(row.number));
    return tail.length === 0 ? head : { count: head.count, rows: [...head.rows, ...tail], next: old.next };
  });
  return { columns, truncated: fresh.truncated };
}

/** Appends a page to a column. Rows that are already there are not repeated. */
export function appendPage(before: Board, name: ColumnName, page: Tasks): Board {
  const column = before.columns[name];
  const seen = new Set(column.rows.map((row) => row.number));
  const rows = [...column.rows, ...page.tasks.filter((row) => !seen.has(row.number))];
  return { ...before, columns: { ...before.columns, [name]: { ...column, rows, next: page.nextCursor } } };
}

function without(column: BoardColumn, number: number): BoardColumn {
  return column.rows.some((row) => row.number === number) ? { ...column, rows: column.rows.filter((row) => row.number !== number) } : column;
}

/** Inserts a row in order, unless its position is behind the loaded rows. */
function insert(name: ColumnName, column: BoardColumn, row: TaskRow): BoardColumn {
  const at = column.rows.findIndex((one) => compare(name, one, row) > 0);
  if (at < 0 && column.next !== null) return column;
  const rows = at < 0 ? [...column.rows, row] : column.rows.toSpliced(at, 0, row);
  return { ...column, rows };
}

/** Replaces rows wherever they were. Counts change only with the next head. */
export function patchRows(before: Board, rows: readonly TaskRow[]): Board {
  let columns: Columns = { ...before.columns };
  for (const row of rows) {
    columns = everyColumn((name) => without(columns[name], row.number));
    columns[row.column] = insert(row.column, columns[row.column], row);
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

const STATE_IN: Readonly<Record<ColumnName, StoredState>> = {
  blocked: 'blocked', ready: 'pending', inProgress: 'in_progress', inReview: 'review', done: 'completed',
};

/** Returns a task in the state that the move will give it. */
export function movedRow(row: TaskRow, to: ColumnName): TaskRow {
  return { ...row, column: to, storedState: STATE_IN[to] };
}

/** Moves a row to its column, and adjusts both counts. */
export function placeRow(before: Board, row: TaskRow): Board {
  const old = findRow(before, row.number);
  const board = patchRows(before, [row]);
  if (old === undefined || old.column === row.column) return board;
  const counted = (name: ColumnName, by: number): BoardColumn => ({ ...board.columns[name], count: Math.max(0, board.columns[name].count + by) });
  return { ...board, columns: { ...board.columns, [old.column]: counted(old.column, -1), [row.column]: counted(row.column, 1) } };
}

/** Total number of tasks. */
export function total(board: Board): number {
  return COLUMNS.reduce((sum, name) => sum + board.columns[name].count, 0);
}

/**
 * Finds the neighbouring task: up or down in the column, sideways in the nearest column with tasks.
 */
export function neighbour(board: Board, open: readonly ColumnName[], number: number | null, way: 'up' | 'down' | 'left' | 'right'): TaskRow | undefined {
  const row = number === null ? undefined : findRow(board, number);
  if (row === undefined) {
    const first = open.find((name) => board.columns[name].rows.length > 0);
    return first === undefined ? undefined : board.columns[first].rows[0];
  }
  const rows = board.columns[row.column].rows;
  const at = rows.findIndex((one) => one.number === row.number);
  if (way === 'up' || way === 'down') return rows[at + (way === 'down' ? 1 : -1)];
  const columns = way === 'right' ? open : open.toReversed();
  const behind = columns.slice(columns.indexOf(row.column) + 1);
  const next = behind.find((name) => board.columns[name].rows.length > 0);
  if (next === undefined) return undefined;
  const beside = board.columns[next].rows;
  return beside[Math.min(at, beside.length - 1)];
}
