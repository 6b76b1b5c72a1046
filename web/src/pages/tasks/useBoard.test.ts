import { expect, test } from 'vitest';
import type { LiveEvent } from '../../api/live';
import { fromView } from './board';
import { row } from './sample';
import type { TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import { patchPages } from './TaskList';
import { behindHead, matters, numberOf } from './useBoard';

const event = (kind: LiveEvent['kind'], taskId: string | null, data: Record<string, unknown> = {}): LiveEvent =>
  ({ number: 1, kind, at: '', agentId: null, taskId, data }) as LiveEvent;
const board = (rows: readonly TaskRow[]) =>
  fromView({ truncated: false, columns: COLUMNS.map((name) => ({ name, count: 0, nextCursor: null, tasks: rows.filter((one) => one.column === name) })) });

test('an event is about the task that it names, or that is on the board', () => {
  const there = board([row(7)]);
  expect(numberOf(event('task.updated', 'task_9', { number: 9 }), there)).toBe(9);
  expect(numberOf(event('agent.finished', 'task_7'), there)).toBe(7);
  expect(numberOf(event('agent.finished', 'task_8'), there)).toBeNull();
  expect(numberOf(event('agent.finished', null), there)).toBeNull();
  expect(numberOf(event('review.requested', 'task_7', { number: 3 }), there)).toBe(7);
});

test('only what can change a card matters', () => {
  const all = ['task.created', 'agent.state_changed', 'review.ended', 'merge.queued', 'mail.sent', 'files.reserved'] as const;
  expect(all.filter((kind) => matters(event(kind, null)))).toEqual([
    'task.created', 'agent.state_changed', 'review.ended', 'merge.queued',
  ]);
});

test('behind the first rows those are read again that changed, and those that wait for them', () => {
  const rows = Array.from({ length: 40 }, (_, at) => row(at + 1));
  rows[30] = { ...row(31), needs: [{ number: 99, done: false }] };
  expect(behindHead(board(rows), new Set([1, 28, 99]))).toEqual([28, 31]);
});

test('rows of a list change where they stand', () => {
  const pages = [{ tasks: [row(1), row(2)], nextCursor: 'p2n2', truncated: false }, { tasks: [row(3)], nextCursor: null, truncated: false }];
  const after = patchPages({ pages, pageParams: [null, 'p2n2'] }, [row(3, 'done', 0), row(9)]);
  expect(after.pages.flatMap((page) => page.tasks.map((one) => [one.number, one.column]))).toEqual([[1, 'ready'], [2, 'ready'], [3, 'done']]);
});
