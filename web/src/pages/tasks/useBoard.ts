// Data of the board. Events reload its first rows and patch the rows behind them; a move is shown
// before the server has answered.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { callTool, get } from '../../api/client';
import { matchKinds, liveEvents, getTaskNumber, useLiveEvents, type LiveEvent } from '../../api/live';
import { appendPage, buildBoard, mergeHead, moveRow, patchRows, placeRow, type Board } from './boardState';
import type { TaskMove } from './moves';
import type { BoardView, ColumnName, TaskRow, Tasks } from '../../api/types';
import { COLUMNS, type TaskFilter } from './columns';

/** Rows per column in the first request. */
const HEAD_SIZE = 25;
const PAGE_SIZE = 50;
/** Delay that joins events into one reload. */
const REFRESH_DELAY_MS = 500;
/**
 * Limit of rows behind the head that are patched; others are reloaded when they scroll into view.
 */
const MAX_PATCHED_ROWS = 100;

export const affectsBoard = matchKinds('task.', 'agent.', 'review.', 'merge.', 'epic.');

/** Finds the number of the task that an event concerns. */
export function findTaskNumber(event: LiveEvent, board: Board | undefined): number | null {
  const number = getTaskNumber(event);
  if (number !== null) return number;
  if (event.taskId === null || board === undefined) return null;
  for (const name of COLUMNS) {
    const row = board.columns[name].rows.find((one) => one.id === event.taskId);
    if (row !== undefined) return row.number;
  }
  return null;
}

/** Lists the loaded rows behind the head that are, or depend on, one of these tasks. */
export function listRowsBehindHead(board: Board, numbers: ReadonlySet<number>): number[] {
  return COLUMNS.flatMap((name) =>
    board.columns[name].rows
      .slice(HEAD_SIZE)
      .filter((row) => numbers.has(row.number) || row.needs.some((need) => numbers.has(need.number)))
      .map((row) => row.number),
  ).slice(0, MAX_PATCHED_ROWS);
}

export interface BoardHandle {
  readonly query: UseQueryResult<Board>;
  readonly loadMore: (name: ColumnName) => Promise<void>;
  /** Moves a task. Shown at once, and reverted if the server refuses. */
  readonly move: (row: TaskRow, taskMove: TaskMove, answer: string, to: ColumnName) => Promise<void>;
}

export function useBoard({ epic, q }: TaskFilter): BoardHandle {
  const client = useQueryClient();
  const key = ['board', epic, q];
  const latest = useRef(key);
  latest.current = key;
  /** Moves that the server has not confirmed; they override its older answers. */
  const pendingMoves = useRef(new Map<number, TaskRow>());
  const loadingColumns = useRef(new Set<ColumnName>());

  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const view = await get<BoardView>('/api/board', { epic, q, limit: HEAD_SIZE }, signal);
      const before = client.getQueryData<Board>(key);
      let board = before === undefined ? buildBoard(view) : mergeHead(before, view);
      for (const row of pendingMoves.current.values()) board = placeRow(board, row);
      return board;
    },
    placeholderData: (before) => before,
  });

  const updateBoard = useCallback(
    (change: (board: Board) => Board) => client.setQueryData<Board>(latest.current, (board) => (board === undefined ? board : change(board))),
    [client],
  );

  const changedNumbers = useRef(new Set<number>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const reload = useCallback(async () => {
    timer.current = null;
    const numbers = changedNumbers.current;
    changedNumbers.current = new Set();
    await client.invalidateQueries({ queryKey: ['board'] });
    const board = client.getQueryData<Board>(latest.current);
    const numbersBehind = board === undefined ? [] : listRowsBehindHead(board, numbers);
    if (numbersBehind.length === 0) return;
    const rows = await get<Tasks>('/api/tasks', { numbers: numbersBehind.join(',') });
    updateBoard((now) => patchRows(now, rows.tasks.filter((row) => !pendingMoves.current.has(row.number))));
  }, [client, updateBoard]);
  useLiveEvents(affectsBoard, (batch) => {
    const board = client.getQueryData<Board>(latest.current);
    for (const event of batch) {
      const number = findTaskNumber(event, board);
      if (number !== null) changedNumbers.current.add(number);
    }
    timer.current ??= setTimeout(() => void reload().catch(() => undefined), REFRESH_DELAY_MS);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useEffect(() => liveEvents.onReset(() => void client.resetQueries({ queryKey: ['board'] })), [client]);

  const loadMore = useCallback(
    async (name: ColumnName) => {
      const board = client.getQueryData<Board>(latest.current);
      const after = board?.columns[name].nextCursor ?? null;
      if (after === null || loadingColumns.current.has(name)) return;
      loadingColumns.current.add(name);
      try {
        const page = await get<Tasks>('/api/tasks', { column: name, epic, q, after, limit: PAGE_SIZE });
        updateBoard((now) => appendPage(now, name, page));
      } finally {
        loadingColumns.current.delete(name);
      }
    },
    [client, epic, q, updateBoard],
  );

  const move = useCallback(
    async (row: TaskRow, taskMove: TaskMove, answer: string, to: ColumnName) => {
      if (taskMove.isImmediate) {
        const moved = moveRow(row, to);
        pendingMoves.current.set(row.number, moved);
        updateBoard((board) => placeRow(board, moved));
      }
      try {
        await callTool(taskMove.tool, taskMove.input(answer));
        pendingMoves.current.delete(row.number);
      } catch (error) {
        pendingMoves.current.delete(row.number);
        if (taskMove.isImmediate) updateBoard((board) => placeRow(board, row));
        throw error;
      } finally {
        void client.invalidateQueries({ queryKey: ['board'] });
        void client.invalidateQueries({ queryKey: ['task', row.number] });
      }
    },
    [client, updateBoard],
  );

  return { query, loadMore, move };
}
