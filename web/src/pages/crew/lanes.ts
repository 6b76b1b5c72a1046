// A life on the time axis, as places in percent. The axis moves with the clock: everything is placed against a base, and drawn shifted by
// how much time has passed since, so that a second costs one change of style and no drawing.
import { span } from '../../parts/format';
import { isOver, lookOf } from '../../parts/State';
import type { CrewRow, LaneSegment } from '../../api/types';

export type WindowName = '15m' | '1h' | '6h';

/** How long each window is, in milliseconds. */
export const WINDOWS: Readonly<Record<WindowName, number>> = { '15m': 15 * 60_000, '1h': 60 * 60_000, '6h': 6 * 60 * 60_000 };

/** How much of the axis is past; the rest shows limits that are to come. */
export const PAST = 52 / 60;

export interface Axis {
  /** The time against which everything is placed. */
  readonly base: number;
  /** How much time the past part shows. */
  readonly past: number;
}

export function axisOf(base: number, window: number): Axis {
  return { base, past: window * PAST };
}

/** Where a time is, in percent of the past part; now is 100 at the base's time. */
export function placeOf(axis: Axis, at: number): number {
  return ((at - (axis.base - axis.past)) / axis.past) * 100;
}

/** How far everything has moved since the base. */
export function shiftOf(axis: Axis, now: number): number {
  return (-(now - axis.base) / axis.past) * 100;
}

export interface Bar {
  readonly state: string;
  readonly left: number;
  readonly width: number;
  /** Of one that is over, its bars are faded. */
  readonly faded: boolean;
}

export interface Lane {
  readonly bars: readonly Bar[];
  /** One notch a call. */
  readonly notches: readonly number[];
  /** Where it ended. */
  readonly end: number | null;
  /** Where its time is up. */
  readonly limit: number | null;
}

/** A bar that goes on is drawn far beyond now, and cut there. */
const BEYOND = 300;
/** What lies before the axis is not drawn: nothing moves to the right. */
const BEFORE = -2;

export function laneOf(row: CrewRow, axis: Axis): Lane {
  const faded = isOver(row.state);
  const bars: Bar[] = [];
  for (const segment of row.segments ?? []) {
    const left = Math.max(BEFORE, placeOf(axis, Date.parse(segment.from)));
    const right = segment.to === null ? BEYOND : placeOf(axis, Date.parse(segment.to));
    if (right > BEFORE) bars.push({ state: segment.state, left, width: Math.max(0, right - left), faded });
  }
  const notches = (row.calls ?? []).map((at) => placeOf(axis, at)).filter((left) => left > BEFORE);
  const end = row.finishedAt === null ? null : placeOf(axis, Date.parse(row.finishedAt));
  const limit = row.deadlineAt === null || faded ? null : placeOf(axis, Date.parse(row.deadlineAt));
  return { bars, notches, end: end !== null && end > BEFORE ? end : null, limit };
}

/** The times that are marked, each a round one. */
export function ticksOf(axis: Axis, window: number): readonly { readonly at: number; readonly left: number; readonly labelled: boolean }[] {
  const step = window / 6;
  const ticks = [];
  const from = axis.base - axis.past;
  // One window more than is seen: that is how far it moves before it is drawn anew.
  for (let at = Math.ceil(from / step) * step; at <= axis.base + axis.past + window; at += step) {
    ticks.push({ at, left: placeOf(axis, at), labelled: Math.round(at / step) % 2 === 0 });
  }
  return ticks;
}

const WORDS: Readonly<Record<string, string>> = { awaiting: 'awaits children' };

/** The same facts in words, for those who cannot see the lane. */
export function laneWords(segments: readonly LaneSegment[], now: number): string {
  const sums = new Map<string, number>();
  for (const segment of segments) {
    const ms = (segment.to === null ? now : Date.parse(segment.to)) - Date.parse(segment.from);
    const word = WORDS[segment.state] ?? lookOf(segment.state).word.toLowerCase();
    sums.set(word, (sums.get(word) ?? 0) + Math.max(0, ms));
  }
  return [...sums].map(([word, ms]) => `${word} ${span(ms)}`).join(', ');
}
