import { expect, test } from 'vitest';
import { listChoices, chooseControl, parseInput, formatInput, type Schema } from './tools';

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
  for (const [schema, control] of cases) expect(chooseControl(schema)).toBe(control);
  expect(listChoices({ anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] })).toEqual(['a', 'b']);
});

test('input is parsed as the schema requires, and formatted back', () => {
  expect(parseInput('line', ' ')).toBeUndefined();
  expect(parseInput('number', '4')).toBe(4);
  expect(parseInput('yesno', 'no')).toBe(false);
  expect(parseInput('lines', 'a\n\n b ')).toEqual(['a', 'b']);
  expect(() => parseInput('json', '{')).toThrow();
  expect(formatInput('lines', ['a', 'b'])).toBe('a\nb');
  expect(formatInput('json', { a: 1 })).toBe('{\n  "a": 1\n}');
  expect(formatInput('line', undefined)).toBe('');
});
