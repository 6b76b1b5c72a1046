// Which time the bars show.
import type { Asked } from './query';

const DAY = 86_400_000;
/** Bars of less than a second each say nothing. */
const LEAST = 60_000;

export type Frame = readonly [number, number];

/**
 * A stretch that was chosen out of what is shown is marked in it: the bars stay. A stretch that comes from elsewhere is shown with
 * some time on either side. Anything else ends now, and begins when it was asked to, or a day before.
 */
export function frameOf(before: Frame | null, { since, until }: Pick<Asked, 'since' | 'until'>, now: number): Frame {
  if (since !== null && until !== null) {
    if (before !== null && since >= before[0] - 1 && until <= before[1] + 1) return before;
    const length = Math.max(LEAST, until - since);
    return [since - length, Math.max(until, Math.min(now, until + length))];
  }
  const end = until ?? now;
  return [since ?? end - DAY, Math.max(end, (since ?? end - DAY) + LEAST)];
}
