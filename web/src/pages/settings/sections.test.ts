import { expect, test } from 'vitest';
import { labelOf, matching, partOf, sectionsOf, wordsOf } from './sections';
import type { KeyView } from '../../api/types';

const key = (name: string, description = ''): KeyView => ({
  key: name, description, value: 1, default: 1, isSet: true, atStart: false, decidedBy: null, choices: [],
});

test('every key has a part', () => {
  expect(partOf('limits.depth')).toBe('limits');
  expect(partOf('mcp.toolTimeout')).toBe('limits');
  expect(partOf('mcp.fullAccessCategories')).toBe('permissions');
  expect(partOf('categories.worker.allow')).toBe('permissions');
  expect(partOf('prices.asOf')).toBe('budget');
  expect(partOf('slack.users')).toBe('notifications');
  expect(partOf('webhooks')).toBe('webhooks');
  expect(partOf('server.port')).toBe('general');
  expect(partOf('limitsOfSomethingElse')).toBe('general');
});

test('names are spelled for people', () => {
  expect(wordsOf('maxPromptBytes')).toBe('Max prompt bytes');
  expect(wordsOf('max_iterations')).toBe('Max iterations');
  expect(wordsOf('apiUrl')).toBe('Api URL');
  expect(wordsOf('github')).toBe('GitHub');
  expect(labelOf('budget.default.usd')).toBe('USD');
});

test('keys are gathered by section, those that stand in none last', () => {
  const sections = sectionsOf([key('server.port'), key('agents.claude.binary'), key('database'), key('server.host'), key('limits.depth')], 'general');
  expect(sections.map((section) => [section.title, section.keys.map((one) => one.key)])).toEqual([
    ['Server', ['server.port', 'server.host']],
    ['Agents, Claude', ['agents.claude.binary']],
    ['Others', ['database']],
  ]);
});

test('what gave a part its name comes first', () => {
  const sections = sectionsOf([key('mcp.toolTimeout'), key('limits.depth')], 'limits');
  expect(sections.map((section) => section.name)).toEqual(['limits', 'mcp']);
});

test('a search looks at names and at what they are for', () => {
  const keys = [key('limits.maxPromptBytes', 'Maximum size of a prompt in bytes.'), key('limits.depth', 'How deep.')];
  expect(matching(keys, 'prompt size').map((one) => one.key)).toEqual(['limits.maxPromptBytes']);
  expect(matching(keys, '')).toHaveLength(2);
});
