// Time frame of the histogram.
import type { Asked } from './query';

const DAY = 86_400_000;
/** Shortest frame, with bars of at least half a second. */
const LEAST = 60_000;

export type Frame = readonly [number, number];

/**
 * Chooses the frame. A range inside the current frame keeps it and is marked in it; a range outside
 * gets a frame with some time on either side. Otherwise the frame ends now, and starts at the
 * requested time or a day ago.
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
