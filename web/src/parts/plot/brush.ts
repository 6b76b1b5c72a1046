// Selection of a range of bars, with the pointer or with keys.

/** Selected bars: the first one chosen and the current one. */
export interface Brush {
  readonly anchor: number;
  readonly head: number;
}

/** Returns the first and last selected bar. */
export function getBrushRange({ anchor, head }: Brush): readonly [number, number] {
  return [Math.min(anchor, head), Math.max(anchor, head)];
}

/** Finds the bar at a horizontal position. */
export function findBarAt(x: number, width: number, bars: number): number {
  return Math.min(bars - 1, Math.max(0, Math.floor((x / Math.max(1, width)) * bars)));
}

/** Applies a key: arrows move, with shift they extend; returns null for other keys. */
export function moveBrush(brush: Brush, key: string, isShift: boolean, bars: number): Brush | null {
  const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -bars, End: bars }[key];
  if (by === undefined) return null;
  const head = Math.min(bars - 1, Math.max(0, brush.head + by));
  return { anchor: isShift ? brush.anchor : head, head };
}

/** Converts the selected bars to their start and end time. */
export function getBrushTimes(brush: Brush, from: number, step: number): readonly [number, number] {
  const [first, last] = getBrushRange(brush);
  return [from + first * step, from + (last + 1) * step];
}

/** Finds the bars within a time range; null if there are none. */
export function findBarsWithin(since: number, until: number, from: number, step: number, bars: number): readonly [number, number] | null {
  const first = Math.max(0, Math.floor((since - from) / step + 1e-9));
  const last = Math.min(bars - 1, Math.ceil((until - from) / step - 1e-9) - 1);
  return first <= last ? [first, last] : null;
}
