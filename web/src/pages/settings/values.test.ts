import { expect, test } from 'vitest';
import type { KeyView } from '../../api/types';
import { kindOf, read, readAs, textOf, typed, wishOf, type Draft } from './values';

function key(name: string, value: unknown, otherwise: unknown = value, more: Partial<KeyView> = {}): KeyView {
  return { key: name, description: '', value, default: otherwise, isSet: true, atStart: false, decidedBy: null, choices: [], ...more };
}

const none: Draft = new Map();

test('a key gets the control that fits what stands there', () => {
  expect(kindOf(key('mirror', true))).toBe('switch');
  expect(kindOf(key('limits.depth', 3))).toBe('number');
  expect(kindOf(key('budget.default.usd', null, 10))).toBe('number');
  expect(kindOf(key('server.logLevel', 'info', 'info', { choices: ['info', 'warn'] }))).toBe('choice');
  expect(kindOf(key('worktrees.fresh', ['coding'], ['coding', 'worker']))).toBe('list');
  expect(kindOf(key('server.allowedHosts', [], []))).toBe('list');
  expect(kindOf(key('webhooks', [], []))).toBe('json');
  expect(kindOf(key('models.overrides', {}, {}))).toBe('json');
  expect(kindOf(key('context.files', [{ path: 'a' }]))).toBe('json');
  expect(kindOf(key('check', null))).toBe('text');
});

test('what is shown means what stands there', () => {
  for (const value of [true, 3, 1.5, ['a', 'b'], { a: [1] }, 'word', null]) {
    const one = key('x', value);
    const kind = kindOf(one);
    expect(readAs(one, textOf(value, kind))).toEqual({ value });
  }
});

test('a text means what somebody meant', () => {
  expect(read('12,000', 'number')).toEqual({ value: 12_000 });
  expect(read('', 'number')).toEqual({ value: null });
  expect(read('many', 'number')).toHaveProperty('error');
  expect(read(' a \n\n b', 'list')).toEqual({ value: ['a', 'b'] });
  expect(read('{', 'json')).toHaveProperty('error');
  expect(read('5000', 'text')).toEqual({ value: 5000 });
  expect(read('[make, test', 'text')).toEqual({ value: '[make, test' });
  expect(read('["make"]', 'text')).toEqual({ value: ['make'] });
  // A model may have a numeric name if the value was a string before.
  expect(readAs(key('models.default', 'sonnet'), '4.50')).toEqual({ value: '4.50' });
});

test('typing the old value again is no change', () => {
  const depth = key('limits.depth', 3);
  const changed = typed(none, depth, '4');
  expect([...changed]).toEqual([['limits.depth', '4']]);
  expect(typed(changed, depth, '3').size).toBe(0);
  expect(typed(changed, depth, ' 3 ').size).toBe(0);
  expect([...typed(none, depth, null)]).toEqual([['limits.depth', null]]);
  expect(typed(none, { ...depth, isSet: false }, null).size).toBe(0);
});

test('a draft becomes a wish, and what cannot be asked is said', () => {
  const keys = [key('limits.depth', 3), key('limits.running', 8), key('mirror', true), key('check', null)];
  const draft: Draft = new Map([
    ['limits.depth', 'deep'],
    ['limits.running', null],
    ['mirror', 'false'],
    ['check', 'make test'],
  ]);
  const { changes, errors } = wishOf(draft, keys);
  expect(changes).toEqual([{ key: 'limits.running' }, { key: 'mirror', value: false }, { key: 'check', value: 'make test' }]);
  expect([...errors.keys()]).toEqual(['limits.depth']);
});
