import { expect, test } from 'vitest';
import { describeLag } from './servers';

test('a follower is described by what it lacks, and by its silence', () => {
  expect(describeLag({ missingCommits: 0, lateSeconds: 0, seenSeconds: 1 })).toBe('Has every commit');
  expect(describeLag({ missingCommits: 1, lateSeconds: 0.25, seenSeconds: 15 })).toBe('1 commit (0.3 s) behind');
  expect(describeLag({ missingCommits: 40, lateSeconds: 12, seenSeconds: 61.4 })).toBe('40 commits (12.0 s) behind; not heard of for 61 s');
});
