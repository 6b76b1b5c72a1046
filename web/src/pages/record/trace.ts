// Where the bars of a call and its neighbours stand.
import type { NeighbourCall } from '../../api/types';

export interface Bar {
  readonly call: NeighbourCall;
  readonly self: boolean;
  /** From 0 to 1, of the width there is. */
  readonly x: number;
  readonly width: number;
  /** On which side of what is shown it lies, and how many milliseconds away. */
  readonly away: { readonly side: 'before' | 'after'; readonly ms: number } | null;
}

/** So much beside the call is shown, at the least. */
const LEAST = 50;

/** The call in the middle, with as much time again on either side: neighbours that lie further away stand at the edge. */
export function bars(near: readonly NeighbourCall[], number: number): readonly Bar[] {
  const self = near.find((call) => call.number === number);
  if (self === undefined) return [];
  const [began, ended] = [Date.parse(self.startedAt), Date.parse(self.at)];
  const pad = Math.max(LEAST, ended - began);
  const [from, to] = [began - pad, ended + pad];
  const place = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)));
  return near.map((call) => {
    const [start, end] = [Date.parse(call.startedAt), Date.parse(call.at)];
    const away =
      end < from ? { side: 'before' as const, ms: began - end } : start > to ? { side: 'after' as const, ms: start - ended } : null;
    return { call, self: call.number === number, x: place(start), width: place(end) - place(start), away };
  });
}
