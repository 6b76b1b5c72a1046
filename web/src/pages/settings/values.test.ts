import { expect, test } from 'vitest';
import type { KeyView } from '../../api/types';
import { chooseControl, parseText, parseKeyText, formatValue, withTypedText, buildChanges, type KeyDraft } from './values';

function buildKey(name: string, value: unknown, otherwise: unknown = value, more: Partial<KeyView> = {}): KeyView {
  return { key: name, description: '', value, default: otherwise, isSet: true, atStart: false, decidedBy: null, choices: [], ...more };
}

const none: KeyDraft = new Map();

test('the control of a key follows from its value', () => {
  expect(chooseControl(buildKey('mirror', true))).toBe('switch');
  expect(chooseControl(buildKey('limits.depth', 3))).toBe('number');
  expect(chooseControl(buildKey('budget.default.usd', null, 10))).toBe('number');
  expect(chooseControl(buildKey('server.logLevel', 'info', 'info', { choices: ['info', 'warn'] }))).toBe('choice');
  expect(chooseControl(buildKey('worktrees.fresh', ['coding'], ['coding', 'worker']))).toBe('list');
  expect(chooseControl(buildKey('server.allowedHosts', [], []))).toBe('list');
  expect(chooseControl(buildKey('webhooks', [], []))).toBe('json');
  expect(chooseControl(buildKey('models.overrides', {}, {}))).toBe('json');
  expect(chooseControl(buildKey('context.files', [{ path: 'a' }]))).toBe('json');
  expect(chooseControl(buildKey('check', null))).toBe('text');
});

test('formatting and parsing a value are inverse', () => {
  for (const value of [true, 3, 1.5, ['a', 'b'], { a: [1] }, 'word', null]) {
    const one = buildKey('x', value);
    const kind = chooseControl(one);
    expect(parseKeyText(one, formatValue(value, kind))).toEqual({ value });
  }
});

test('typed text is parsed as intended', () => {
  expect(parseText('12,000', 'number')).toEqual({ value: 12_000 });
  expect(parseText('', 'number')).toEqual({ value: null });
  expect(parseText('many', 'number')).toHaveProperty('error');
  expect(parseText(' a \n\n b', 'list')).toEqual({ value: ['a', 'b'] });
  expect(parseText('{', 'json')).toHaveProperty('error');
  expect(parseText('5000', 'text')).toEqual({ value: 5000 });
  expect(parseText('[make, test', 'text')).toEqual({ value: '[make, test' });
  expect(parseText('["make"]', 'text')).toEqual({ value: ['make'] });
  // A model may have a numeric name if the value was a string before.
  expect(parseKeyText(buildKey('models.default', 'sonnet'), '4.50')).toEqual({ value: '4.50' });
});

test('typing the saved value is no change', () => {
  const depth = buildKey('limits.depth', 3);
  const changed = withTypedText(none, depth, '4');
  expect([...changed]).toEqual([['limits.depth', '4']]);
  expect(withTypedText(changed, depth, '3').size).toBe(0);
  expect(withTypedText(changed, depth, ' 3 ').size).toBe(0);
  expect([...withTypedText(none, depth, null)]).toEqual([['limits.depth', null]]);
  expect(withTypedText(none, { ...depth, isSet: false }, null).size).toBe(0);
});

test('a draft is converted to changes and errors', () => {
  const keys = [buildKey('limits.depth', 3), buildKey('limits.running', 8), buildKey('mirror', true), buildKey('check', null)];
  const draft: KeyDraft = new Map([
    ['limits.depth', 'deep'],
    ['limits.running', null],
    ['mirror', 'false'],
    ['check', 'make test'],
  ]);
  const { changes, errors } = buildChanges(draft, keys);
  expect(changes).toEqual([{ key: 'limits.running' }, { key: 'mirror', value: false }, { key: 'check', value: 'make test' }]);
  expect([...errors.keys()]).toEqual(['limits.depth']);
});
