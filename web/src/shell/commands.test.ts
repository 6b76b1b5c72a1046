import { expect, test } from 'vitest';
import { filterCommands, type Command } from './commands';

const buildCommand = (key: string, text: string, quiet = false): Command => ({ key, searchText: text, isHiddenWithoutQuery: quiet, group: 'Actions', label: key, icon: null, run: () => undefined });
const ALL = [buildCommand('crew', 'go to Crew'), buildCommand('start', 'start agent new'), buildCommand('send', 'tool mail_send Send mail', true)];

test('commands match all words, in any order and case', () => {
  expect(filterCommands(ALL, 'AGENT sta').map((one) => one.key)).toEqual(['start']);
  expect(filterCommands(ALL, 'agent crew')).toEqual([]);
});

test('tools appear only with a query', () => {
  expect(filterCommands(ALL, ' ').map((one) => one.key)).toEqual(['crew', 'start']);
  expect(filterCommands(ALL, 'mail').map((one) => one.key)).toEqual(['send']);
});
