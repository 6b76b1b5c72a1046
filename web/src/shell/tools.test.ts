import { expect, test } from 'vitest';
import { choicesOf, controlOf, valueOf, writtenOf, type Schema } from './tools';

test('each kind of field has its control', () => {
  const cases: [Schema, string][] = [
    [{ type: 'string', maxLength: 500 }, 'line'],
    [{ type: ['string', 'null'], maxLength: 100_000 }, 'text'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['boolean', 'null'] }, 'yesno'],
    [{ type: 'array', items: { type: 'string' } }, 'lines'],
    [{ type: 'array', items: { type: 'object' } }, 'json'],
    [{ enum: ['a', 'b'] }, 'choice'],
    [{ anyOf: [{ enum: ['a'] }, { type: 'null' }] }, 'choice'],
    [{}, 'json'],
  ];
  for (const [schema, control] of cases) expect(controlOf(schema)).toBe(control);
  expect(choicesOf({ anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] })).toEqual(['a', 'b']);
});

test('what is written comes back as the tool wants it, and back again', () => {
  expect(valueOf('line', ' ')).toBeUndefined();
  expect(valueOf('number', '4')).toBe(4);
  expect(valueOf('yesno', 'no')).toBe(false);
  expect(valueOf('lines', 'a\n\n b ')).toEqual(['a', 'b']);
  expect(() => valueOf('json', '{')).toThrow();
  expect(writtenOf('lines', ['a', 'b'])).toBe('a\nb');
  expect(writtenOf('json', { a: 1 })).toBe('{\n  "a": 1\n}');
  expect(writtenOf('line', undefined)).toBe('');
});
