// Layout of a call and its neighbours on a time axis.
import type { NeighbourCall } from '../../api/types';

export interface Bar {
  readonly call: NeighbourCall;
  readonly self: boolean;
  /** Fraction of the width, from 0 to 1. */
  readonly x: number;
  readonly width: number;
  /** Side and distance in milliseconds of a call outside the axis. */
  readonly away: { readonly side: 'before' | 'after'; readonly ms: number } | null;
}

/** Smallest margin on either side of the call. */
const LEAST = 50;

/** Centres the call, with margins of its own duration. Calls further away stand at the edge. */
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
