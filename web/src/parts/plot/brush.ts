// Choosing a stretch of bars, with the pointer or with keys.

/** Which bars are chosen: the one where it began and the one where it is now. */
export interface Brush {
  readonly anchor: number;
  readonly head: number;
}

/** The first and the last chosen bar. */
export function rangeOf({ anchor, head }: Brush): readonly [number, number] {
  return [Math.min(anchor, head), Math.max(anchor, head)];
}

/** The bar at a place, of so many in so much room. */
export function barAt(x: number, width: number, bars: number): number {
  return Math.min(bars - 1, Math.max(0, Math.floor((x / Math.max(1, width)) * bars)));
}

/** What a key does: arrows move, with shift they extend; null where the key is for somebody else. */
export function brushKey(brush: Brush, key: string, shift: boolean, bars: number): Brush | null {
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -bars, End: bars }[key];
  if (by === undefined) return null;
  const head = Math.min(bars - 1, Math.max(0, brush.head + by));
  return { anchor: shift ? brush.anchor : head, head };
}

/** From when until when the chosen bars reach. */
export function timesOf(brush: Brush, from: number, step: number): readonly [number, number] {
  const [first, last] = rangeOf(brush);
  return [from + first * step, from + (last + 1) * step];
}

/** The bars that lie within a time; null where none does. */
export function barsWithin(since: number, until: number, from: number, step: number, bars: number): readonly [number, number] | null {
  const first = Math.max(0, Math.floor((since - from) / step + 1e-9));
  const last = Math.min(bars - 1, Math.ceil((until - from) / step - 1e-9) - 1);
  return first <= last ? [first, last] : null;
}
