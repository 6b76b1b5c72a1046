import { expect, test } from 'vitest';
import type { Check } from './queries';
import { leftOf, standingOf } from './saving';
import type { CheckedChange } from '../../api/types';

const checked = (change: Partial<CheckedChange> = {}): CheckedChange => ({ ok: true, problems: [], notes: [], diff: 'x', hash: 'h', ...change });
const check = (change: Partial<Check> = {}): Check => ({ checked: checked(), stale: false, error: null, again: () => undefined, ...change });
const form = (changes = 1, errors: [string, string][] = [], busy = false) => ({ changes, errors: new Map(errors), busy });

test('only what passed the check as it stands can be saved', () => {
  expect(standingOf(form(), check())).toEqual({ can: true, reason: 'The check passed.' });
  expect(standingOf(form(), check({ stale: true }))).toEqual({ can: false, reason: 'Checking…' });
  expect(standingOf(form(), check({ checked: null }))).toEqual({ can: false, reason: 'Checking…' });
  expect(standingOf(form(0), check()).reason).toBe('There are no changes.');
  expect(standingOf(form(), check({ checked: checked({ diff: '' }) })).reason).toBe('The file already has this value.');
  expect(standingOf(form(), check({ error: new Error('away') })).reason).toBe('The check failed.');
  expect(standingOf(form(1, [], true), check()).can).toBe(false);
});

test('the reason names the key or the line', () => {
  const bad = (key: string | null, line: number | null) =>
    standingOf(form(), check({ checked: checked({ ok: false, problems: [{ key, line, message: 'expected a number', hint: null }] }) })).reason;
  expect(bad('limits.depth', 3)).toBe('limits.depth: expected a number');
  expect(bad(null, 3)).toBe('line 3: expected a number');
  expect(bad(null, null)).toBe('expected a number');
  expect(standingOf(form(1, [['mirror', 'This is not JSON.']]), check()).reason).toBe('mirror: This is not JSON.');
});

test('what was typed while the server was saving stays', () => {
  const role = (name: string, text: string) => ({ draft: new Map<string, string>(), role: { name, text } });
  const saved = role('coder', 'one');
  expect(leftOf(role('coder', 'one'), saved, true).role).toBeNull();
  expect(leftOf(role('coder', 'two'), saved, true).role).toEqual({ name: 'coder', text: 'two' });
  expect(leftOf(role('scribe', 'one'), saved, true).role).toEqual({ name: 'scribe', text: 'one' });
  const keys = (...entries: [string, string][]) => ({ draft: new Map(entries), role: null });
  const left = leftOf(keys(['limits.depth', '4'], ['limits.running', '9'], ['check', 'x']), keys(['limits.depth', '4'], ['limits.running', '8']), false);
  expect([...left.draft]).toEqual([
    ['limits.running', '9'],
    ['check', 'x'],
  ]);
});
