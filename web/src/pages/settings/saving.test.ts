import { expect, test } from 'vitest';
import type { EditCheck } from './queries';
import { dropSaved, getSaveStatus } from './saving';
import type { CheckedEdit } from '../../api/types';

const buildChecked = (change: Partial<CheckedEdit> = {}): CheckedEdit => ({ ok: true, problems: [], notes: [], diff: 'x', hash: 'h', ...change });
const buildCheck = (change: Partial<EditCheck> = {}): EditCheck => ({ checked: buildChecked(), isStale: false, error: null, retry: () => undefined, ...change });
const buildForm = (changeCount = 1, errors: [string, string][] = [], busy = false) => ({ changeCount, errors: new Map(errors), isSaving: busy });

test('only the checked state of the form can be saved', () => {
  expect(getSaveStatus(buildForm(), buildCheck())).toEqual({ canSave: true, reason: 'The check passed.' });
  expect(getSaveStatus(buildForm(), buildCheck({ isStale: true }))).toEqual({ canSave: false, reason: 'Checking…' });
  expect(getSaveStatus(buildForm(), buildCheck({ checked: null }))).toEqual({ canSave: false, reason: 'Checking…' });
  expect(getSaveStatus(buildForm(0), buildCheck()).reason).toBe('There are no changes.');
  expect(getSaveStatus(buildForm(), buildCheck({ checked: buildChecked({ diff: '' }) })).reason).toBe('The file already has this value.');
  expect(getSaveStatus(buildForm(), buildCheck({ error: new Error('away') })).reason).toBe('The check failed.');
  expect(getSaveStatus(buildForm(1, [], true), buildCheck()).canSave).toBe(false);
});

test('the reason names the key or the line', () => {
  const getReason = (key: string | null, line: number | null) =>
    getSaveStatus(buildForm(), buildCheck({ checked: buildChecked({ ok: false, problems: [{ key, line, message: 'expected a number', hint: null }] }) })).reason;
  expect(getReason('limits.depth', 3)).toBe('limits.depth: expected a number');
  expect(getReason(null, 3)).toBe('line 3: expected a number');
  expect(getReason(null, null)).toBe('expected a number');
  expect(getSaveStatus(buildForm(1, [['mirror', 'This is not JSON.']]), buildCheck()).reason).toBe('mirror: This is not JSON.');
});

test('text typed while the server was saving stays', () => {
  const role = (name: string, text: string) => ({ draft: new Map<string, string>(), role: { name, text } });
  const saved = role('coder', 'one');
  expect(dropSaved(role('coder', 'one'), saved, true).role).toBeNull();
  expect(dropSaved(role('coder', 'two'), saved, true).role).toEqual({ name: 'coder', text: 'two' });
  expect(dropSaved(role('scribe', 'one'), saved, true).role).toEqual({ name: 'scribe', text: 'one' });
  const keys = (...entries: [string, string][]) => ({ draft: new Map(entries), role: null });
  const left = dropSaved(keys(['limits.depth', '4'], ['limits.running', '9'], ['check', 'x']), keys(['limits.depth', '4'], ['limits.running', '8']), false);
  expect([...left.draft]).toEqual([
    ['limits.running', '9'],
    ['check', 'x'],
  ]);
});
