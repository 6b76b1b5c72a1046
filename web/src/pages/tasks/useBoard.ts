// Data of the board. Events reload its first rows and patch the rows behind them; a move is shown
// before the server has answered.
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { callTool, get } from '../../api/client';
import { kinds, live, taskNumberOf, useLive, type LiveEvent } from '../../api/live';
import { appendPage, fromView, mergeHead, movedRow, patchRows, placeRow, type Board } from './board';
import type { Way } from './moves';
import type { BoardView, ColumnName, TaskRow, Tasks } from '../../api/types';
import { COLUMNS, type TaskFilter } from './columns';

/** Rows per column in the first request. */
const HEAD = 25;
const PAGE = 50;
/** Delay that joins events into one reload. */
const EVERY = 500;
/**
 * Limit of rows behind the head that are patched; others are reloaded when they scroll into view.
 */
const MOST_PATCHED = 100;

export const matters = kinds('task.', 'agent.', 'review.', 'merge.', 'epic.');

/** Finds the number of the task that an event concerns. */
export function numberOf(event: LiveEvent, board: Board | undefined): number | null {
  const number = taskNumberOf(event);
  if (number !== null) return number;
  if (event.taskId === null || board === undefined) return null;
  for (const name of COLUMNS) {
    const row = board.columns[name].rows.find((one) => one.id === event.taskId);
    if (row !== undefined) return row.number;
  }
  return null;
}

/** Lists the loaded rows behind the head that are, or depend on, one of these tasks. */
export function behindHead(board: Board, numbers: ReadonlySet<number>): number[] {
  return COLUMNS.flatMap((name) =>
    board.columns[name].rows
      .slice(HEAD)
      .filter((row) => numbers.has(row.number) || row.needs.some((need) => numbers.has(need.number)))
      .map((row) => row.number),
  ).slice(0, MOST_PATCHED);
}

export interface BoardHandle {
  readonly query: UseQueryResult<Board>;
  readonly loadMore: (name: ColumnName) => Promise<void>;
  /** Moves a task. Shown at once, and reverted if the server refuses. */
  readonly move: (row: TaskRow, way: Way, words: string, to: ColumnName) => Promise<void>;
}

export function useBoard({ epic, q }: TaskFilter): BoardHandle {
  const client = useQueryClient();
  const key = ['board', epic, q];
  const latest = useRef(key);
  latest.current = key;
  /** Moves that the server has not confirmed; they override its older answers. */
  const moving = useRef(new Map<number, TaskRow>());
  const loading = useRef(new Set<ColumnName>());

  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const view = await get<BoardView>('/api/board', { epic, q, limit: HEAD }, signal);
      const before = client.getQueryData<Board>(key);
      let board = before === undefined ? fromView(view) : mergeHead(before, view);
      for (const row of moving.current.values()) board = placeRow(board, row);
      return board;
    },
    placeholderData: (before) => before,
  });

  const set = useCallback(
    (change: (board: Board) => Board) => client.setQueryData<Board>(latest.current, (board) => (board === undefined ? board : change(board))),
    [client],
  );

  const touched = useRef(new Set<number>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const refresh = useCallback(async () => {
    timer.current = null;
    const numbers = touched.current;
    touched.current = new Set();
    await client.invalidateQueries({ queryKey: ['board'] });
    const board = client.getQueryData<Board>(latest.current);
    const behind = board === undefined ? [] : behindHead(board, numbers);
    if (behind.length === 0) return;
    const rows = await get<Tasks>('/api/tasks', { numbers: behind.join(',') });
    set((now) => patchRows(now, rows.tasks.filter((row) => !moving.current.has(row.number))));
  }, [client, set]);
  useLive(matters, (batch) => {
    const board = client.getQueryData<Board>(latest.current);
    for (const event of batch) {
      const number = numberOf(event, board);
      if (number !== null) touched.current.add(number);
    }
    timer.current ??= setTimeout(() => void refresh().catch(() => undefined), EVERY);
  });
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    },
    [],
  );
  useEffect(() => live.onReset(() => void client.resetQueries({ queryKey: ['board'] })), [client]);

  const loadMore = useCallback(
    async (name: ColumnName) => {
      const board = client.getQueryData<Board>(latest.current);
      const after = board?.columns[name].next ?? null;
      if (after === null || loading.current.has(name)) return;
      loading.current.add(name);
      try {
        const page = await get<Tasks>('/api/tasks', { column: name, epic, q, after, limit: PAGE });
        set((now) => appendPage(now, name, page));
      } finally {
        loading.current.delete(name);
      }
    },
    [client, epic, q, set],
  );

  const move = useCallback(
    async (row: TaskRow, way: Way, words: string, to: ColumnName) => {
      if (way.atOnce) {
        const there = movedRow(row, to);
        moving.current.set(row.number, there);
        set((board) => placeRow(board, there));
      }
      try {
        await callTool(way.tool, way.input(words));
        moving.current.delete(row.number);
      } catch (error) {
        moving.current.delete(row.number);
        if (way.atOnce) set((board) => placeRow(board, row));
        throw error;
      } finally {
        void client.invalidateQueries({ queryKey: ['board'] });
        void client.invalidateQueries({ queryKey: ['task', row.number] });
      }
    },
    [client, set],
  );

  return { query, loadMore, move };
}
