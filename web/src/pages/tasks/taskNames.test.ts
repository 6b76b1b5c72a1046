import { expect, test } from 'vitest';
import { parseTaskNames } from './taskNames';

test('task names are parsed as people type them', () => {
  expect(parseTaskNames('12, TAS-13 #14 fix-it,,')).toEqual(['TAS-12', 'TAS-13', 'TAS-14', 'fix-it']);
  expect(parseTaskNames('  ')).toEqual([]);
});
