// Time frame of the histogram.
import type { RecordRequest } from './query';

const DAY_MS = 86_400_000;
/** Shortest frame, with bars of at least half a second. */
const MIN_FRAME_MS = 60_000;

export type TimeFrame = readonly [number, number];

/**
 * Chooses the frame. A range inside the current frame keeps it and is marked in it; a range outside
 * gets a frame with some time on either side. Otherwise the frame ends now, and starts at the
 * requested time or a day ago.
 */
export function chooseFrame(before: TimeFrame | null, { since, until }: Pick<RecordRequest, 'since' | 'until'>, now: number): TimeFrame {
  if (since !== null && until !== null) {
    if (before !== null && since >= before[0] - 1 && until <= before[1] + 1) return before;
    const length = Math.max(MIN_FRAME_MS, until - since);
    return [since - length, Math.max(until, Math.min(now, until + length))];
  }
  const end = until ?? now;
  return [since ?? end - DAY_MS, Math.max(end, (since ?? end - DAY_MS) + MIN_FRAME_MS)];
}
