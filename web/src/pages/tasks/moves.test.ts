import { expect, test } from 'vitest';
import { buildForceComplete, findMove, type TaskMove } from './moves';
import { sampleRow } from './sample';
import type { TaskAgent, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';

function getMove(task: TaskRow, to: (typeof COLUMNS)[number]): TaskMove {
  const move = findMove(task, to);
  if (move === null || move.kind === 'impossible') throw new Error('no move');
  return move;
}

test('a task has no move to its own column', () => {
  for (const column of COLUMNS) expect(findMove(sampleRow(1, column), column)).toBeNull();
});

test('a task that was not started is moved by the session tool, which may skip states', () => {
  const task = sampleRow(3);
  expect(getMove(task, 'inProgress').input('')).toEqual({ id: 'TAS-3', status: 'in_progress' });
  expect(getMove(task, 'done').input('')).toEqual({ id: 'TAS-3', status: 'completed' });
  expect(getMove(task, 'blocked').input('')).toEqual({ id: 'TAS-3', status: 'blocked' });
  expect(getMove(task, 'inReview')).toMatchObject({ tool: 'mcp__task__update_status', question: null });
});

test('a task with open dependencies cannot be moved to Ready', () => {
  const task: TaskRow = { ...sampleRow(5, 'blocked'), needs: [{ number: 1, done: true }, { number: 3, done: false }] };
  expect(findMove(task, 'ready')).toEqual({ kind: 'impossible', reason: 'TAS-5 waits for TAS-3. It becomes ready automatically when they are completed or cancelled.' });
  expect(getMove(task, 'inProgress').tool).toBe('mcp__session__task-update');
});

test('a task leaves review with feedback or with an approval', () => {
  const task: TaskRow = { ...sampleRow(4, 'inReview'), storedState: 'review' };
  const back = getMove(task, 'inProgress');
  expect([back.tool, back.question?.isRequired, back.input('more tests')]).toEqual([
    'mcp__supervisor__request_changes', true, { taskId: 'TAS-4', feedback: 'more tests' },
  ]);
  expect(getMove(task, 'done')).toMatchObject({ tool: 'mcp__supervisor__approve_task', isImmediate: false });
  expect(buildForceComplete(task).input('came another way')).toEqual({ taskId: 'TAS-4', reason: 'came another way' });
});

test('a blocked task has the reason, if one is given', () => {
  const task: TaskRow = { ...sampleRow(4, 'inProgress'), storedState: 'in_progress' };
  expect(getMove(task, 'blocked').input('')).toEqual({ taskId: 'TAS-4', status: 'BLOCKED' });
  expect(getMove(task, 'blocked').input('no disk')).toEqual({ taskId: 'TAS-4', status: 'BLOCKED', reason: 'no disk' });
});

test('moving a task warns that its agent continues', () => {
  const agent: TaskAgent = { id: 'sp_1', short: 'k20wm', role: 'coder', state: 'running', since: '', limitedUntil: null, asks: null, review: null };
  const task: TaskRow = { ...sampleRow(4, 'inProgress'), storedState: 'in_progress', agent };
  expect(getMove(task, 'ready').doneText).toBe('TAS-4 moved to Ready. coder k20wm continues until it receives an instruction or is killed.');
  expect(getMove({ ...task, agent: { ...agent, state: 'lost' } }, 'ready').doneText).toBe('TAS-4 moved to Ready.');
});
