import { expect, test } from 'vitest';
import { getMark, countMarks, buildColumns } from './permissions';
import { countByToolset } from './RoleFacts';
import type { CategoryView } from '../../api/types';

const buildCategory = (name: string, allowed: string[], denied: string[]): CategoryView => ({
  name, allowed, denied, allow: [], deny: [], reach: 'all', mayDraft: [], inactivity: 1,
});

test('a tool is allowed, denied, or not allowed', () => {
  const [column] = buildColumns([buildCategory('worker', ['mcp__task__get'], ['mcp__task__create'])]);
  if (column === undefined) throw new Error('no column');
  expect(['mcp__task__get', 'mcp__task__create', 'mcp__epic__get'].map((tool) => getMark(tool, column))).toEqual(['allowed', 'denied', 'none']);
  const tools = ['get', 'create', 'list'].map((short) => ({ name: `mcp__task__${short}`, short, title: '' }));
  expect(countMarks({ name: 'task', tools }, column)).toEqual({ allowed: 1, denied: 1, all: 3 });
});

test('tools are counted by their toolsets', () => {
  expect(countByToolset(['mcp__mail__send', 'mcp__task__get', 'mcp__mail__read'])).toEqual([['mail', 2], ['task', 1]]);
});
