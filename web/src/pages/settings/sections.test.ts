import { expect, test } from 'vitest';
import { getKeyLabel, filterKeys, findPart, groupSections, humanizeName } from './sections';
import type { KeyView } from '../../api/types';

const buildKey = (name: string, description = ''): KeyView => ({
  key: name, description, value: 1, default: 1, isSet: true, atStart: false, decidedBy: null, choices: [],
});

test('every key has a part', () => {
  expect(findPart('limits.depth')).toBe('limits');
  expect(findPart('mcp.toolTimeout')).toBe('limits');
  expect(findPart('mcp.fullAccessCategories')).toBe('permissions');
  expect(findPart('categories.worker.allow')).toBe('permissions');
  expect(findPart('prices.asOf')).toBe('budget');
  expect(findPart('slack.users')).toBe('notifications');
  expect(findPart('webhooks')).toBe('webhooks');
  expect(findPart('server.port')).toBe('general');
  expect(findPart('limitsOfSomethingElse')).toBe('general');
});

test('names are converted to labels', () => {
  expect(humanizeName('maxPromptBytes')).toBe('Max prompt bytes');
  expect(humanizeName('max_iterations')).toBe('Max iterations');
  expect(humanizeName('apiUrl')).toBe('Api URL');
  expect(humanizeName('github')).toBe('GitHub');
  expect(getKeyLabel('budget.default.usd')).toBe('USD');
});

test('keys are grouped by section, those without one last', () => {
  const sections = groupSections([buildKey('server.port'), buildKey('agents.claude.binary'), buildKey('database'), buildKey('server.host'), buildKey('limits.depth')], 'general');
  expect(sections.map((section) => [section.title, section.keys.map((one) => one.key)])).toEqual([
    ['Server', ['server.port', 'server.host']],
    ['Agents, Claude', ['agents.claude.binary']],
    ['Other', ['database']],
  ]);
});

test("the section with the part's name comes first", () => {
  const sections = groupSections([buildKey('mcp.toolTimeout'), buildKey('limits.depth')], 'limits');
  expect(sections.map((section) => section.name)).toEqual(['limits', 'mcp']);
});

test('a search covers names and descriptions', () => {
  const keys = [buildKey('limits.maxPromptBytes', 'Maximum size of a prompt in bytes.'), buildKey('limits.depth', 'How deep.')];
  expect(filterKeys(keys, 'prompt size').map((one) => one.key)).toEqual(['limits.maxPromptBytes']);
  expect(filterKeys(keys, '')).toHaveLength(2);
});
