import { expect, test } from 'vitest';
import { matching, type Command } from './commands';

const command = (key: string, text: string, quiet = false): Command => ({ key, text, quiet, group: 'Do', label: key, icon: null, act: () => undefined });
const ALL = [command('crew', 'go to Crew'), command('start', 'start agent new'), command('send', 'tool mail_send Send mail', true)];

test('every word must be there, in any order and case', () => {
  expect(matching(ALL, 'AGENT sta').map((one) => one.key)).toEqual(['start']);
  expect(matching(ALL, 'agent crew')).toEqual([]);
});

test('tools come when something is typed', () => {
  expect(matching(ALL, ' ').map((one) => one.key)).toEqual(['crew', 'start']);
  expect(matching(ALL, 'mail').map((one) => one.key)).toEqual(['send']);
});
