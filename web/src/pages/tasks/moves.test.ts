import { expect, test } from 'vitest';
import { force, wayTo, type Way } from './moves';
import { row } from './sample';
import type { TaskAgent, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';

function way(task: TaskRow, to: (typeof COLUMNS)[number]): Way {
  const found = wayTo(task, to);
  if (found === null || found.kind === 'none') throw new Error('no way');
  return found;
}

test('where it stands there is no move', () => {
  for (const column of COLUMNS) expect(wayTo(row(1, column), column)).toBeNull();
});

test('what was not begun is moved by the session, which may skip steps', () => {
  const task = row(3);
  expect(way(task, 'inProgress').input('')).toEqual({ id: 'TAS-3', status: 'in_progress' });
  expect(way(task, 'done').input('')).toEqual({ id: 'TAS-3', status: 'completed' });
  expect(way(task, 'blocked').input('')).toEqual({ id: 'TAS-3', status: 'blocked' });
  expect(way(task, 'inReview')).toMatchObject({ tool: 'mcp__task__update_status', asks: null });
});

test('what waits for others cannot be made ready by hand', () => {
  const task: TaskRow = { ...row(5, 'blocked'), needs: [{ number: 1, done: true }, { number: 3, done: false }] };
  expect(wayTo(task, 'ready')).toEqual({ kind: 'none', why: 'TAS-5 waits for TAS-3. It becomes ready automatically when they are completed or cancelled.' });
  expect(way(task, 'inProgress').tool).toBe('mcp__session__task-update');
});

test('out of review leads by a word: back with what is to change, or on by approval', () => {
  const task: TaskRow = { ...row(4, 'inReview'), storedState: 'review' };
  const back = way(task, 'inProgress');
  expect([back.tool, back.asks?.needed, back.input('more tests')]).toEqual([
    'mcp__supervisor__request_changes', true, { taskId: 'TAS-4', feedback: 'more tests' },
  ]);
  expect(way(task, 'done')).toMatchObject({ tool: 'mcp__supervisor__approve_task', atOnce: false });
  expect(force(task).input('came another way')).toEqual({ taskId: 'TAS-4', reason: 'came another way' });
});

test('a reason goes with what is held up, where one is given', () => {
  const task: TaskRow = { ...row(4, 'inProgress'), storedState: 'in_progress' };
  expect(way(task, 'blocked').input('')).toEqual({ taskId: 'TAS-4', status: 'BLOCKED' });
  expect(way(task, 'blocked').input('no disk')).toEqual({ taskId: 'TAS-4', status: 'BLOCKED', reason: 'no disk' });
});

test('who moves what an agent works on is told that it goes on', () => {
  const agent: TaskAgent = { id: 'sp_1', short: 'k20wm', role: 'coder', state: 'running', since: '', limitedUntil: null, asks: null, review: null };
  const task: TaskRow = { ...row(4, 'inProgress'), storedState: 'in_progress', agent };
  expect(way(task, 'ready').told).toBe('TAS-4 moved to Ready. coder k20wm continues until it receives an instruction or is killed.');
  expect(way({ ...task, agent: { ...agent, state: 'lost' } }, 'ready').told).toBe('TAS-4 moved to Ready.');
});
