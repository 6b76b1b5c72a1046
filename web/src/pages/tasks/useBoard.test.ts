import { expect, test } from 'vitest';
import type { LiveEvent } from '../../api/live';
import { buildBoard } from './boardState';
import { sampleRow } from './sample';
import type { TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import { patchPages } from './TaskList';
import { listRowsBehindHead, affectsBoard, findTaskNumber } from './useBoard';

const buildEvent = (kind: LiveEvent['kind'], taskId: string | null, data: Record<string, unknown> = {}): LiveEvent =>
  ({ number: 1, kind, at: '', agentId: null, taskId, data }) as LiveEvent;
const board = (rows: readonly TaskRow[]) =>
  buildBoard({ truncated: false, columns: COLUMNS.map((name) => ({ name, count: 0, nextCursor: null, tasks: rows.filter((one) => one.column === name) })) });

test('an event concerns the task in its payload or on the board', () => {
  const loaded = board([sampleRow(7)]);
  expect(findTaskNumber(buildEvent('task.updated', 'task_9', { number: 9 }), loaded)).toBe(9);
  expect(findTaskNumber(buildEvent('agent.finished', 'task_7'), loaded)).toBe(7);
  expect(findTaskNumber(buildEvent('agent.finished', 'task_8'), loaded)).toBeNull();
  expect(findTaskNumber(buildEvent('agent.finished', null), loaded)).toBeNull();
  expect(findTaskNumber(buildEvent('review.requested', 'task_7', { number: 3 }), loaded)).toBe(7);
});

test('only events that can change a card affect the board', () => {
  const all = ['task.created', 'agent.state_changed', 'review.ended', 'merge.queued', 'mail.sent', 'files.reserved'] as const;
  expect(all.filter((kind) => affectsBoard(buildEvent(kind, null)))).toEqual([
    'task.created', 'agent.state_changed', 'review.ended', 'merge.queued',
  ]);
});

test('rows behind the head are reloaded if they or their dependencies changed', () => {
  const rows = Array.from({ length: 40 }, (_, at) => sampleRow(at + 1));
  rows[30] = { ...sampleRow(31), needs: [{ number: 99, done: false }] };
  expect(listRowsBehindHead(board(rows), new Set([1, 28, 99]))).toEqual([28, 31]);
});

test('rows of a list are patched in place', () => {
  const pages = [{ tasks: [sampleRow(1), sampleRow(2)], nextCursor: 'p2n2', truncated: false }, { tasks: [sampleRow(3)], nextCursor: null, truncated: false }];
  const after = patchPages({ pages, pageParams: [null, 'p2n2'] }, [sampleRow(3, 'done', 0), sampleRow(9)]);
  expect(after.pages.flatMap((page) => page.tasks.map((one) => [one.number, one.column]))).toEqual([[1, 'ready'], [2, 'ready'], [3, 'done']]);
});
