import { expect, test } from 'vitest';
import { taskNames } from './names';

test('tasks are named as people write them', () => {
  expect(taskNames('12, TAS-13 #14 fix-it,,')).toEqual(['TAS-12', 'TAS-13', 'TAS-14', 'fix-it']);
  expect(taskNames('  ')).toEqual([]);
});
