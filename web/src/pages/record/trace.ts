// Layout of a call and its neighbours on a time axis.
import type { NeighbourCall } from '../../api/types';

export interface TraceBar {
  readonly call: NeighbourCall;
  readonly isSelf: boolean;
  /** Fraction of the width, from 0 to 1. */
  readonly x: number;
  readonly width: number;
  /** Side and distance in milliseconds of a call outside the axis. */
  readonly offset: { readonly side: 'before' | 'after'; readonly ms: number } | null;
}

/** Smallest margin on either side of the call. */
const MIN_MARGIN_MS = 50;

/** Centres the call, with margins of its own duration. Calls further away stand at the edge. */
export function buildTraceBars(neighbours: readonly NeighbourCall[], number: number): readonly TraceBar[] {
  const self = neighbours.find((call) => call.number === number);
  if (self === undefined) return [];
  const [began, ended] = [Date.parse(self.startedAt), Date.parse(self.at)];
  const margin = Math.max(MIN_MARGIN_MS, ended - began);
  const [from, to] = [began - margin, ended + margin];
  const toFraction = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)));
  return neighbours.map((call) => {
    const [start, end] = [Date.parse(call.startedAt), Date.parse(call.at)];
    const offset =
      end < from ? { side: 'before' as const, ms: began - end } : start > to ? { side: 'after' as const, ms: start - ended } : null;
    return { call, isSelf: call.number === number, x: toFraction(start), width: toFraction(end) - toFraction(start), offset };
  });
}
