// Geometry of the lanes, in percent. Positions are relative to a base time; one CSS variable shifts
// them as time passes, so that a second costs one style change and no rendering.
import { span } from '../../parts/format';
import { isOver, lookOf } from '../../parts/State';
import type { CrewRow, LaneSegment } from '../../api/types';

export type WindowName = '15m' | '1h' | '6h';

/** Length of each window in milliseconds. */
export const WINDOWS: Readonly<Record<WindowName, number>> = { '15m': 15 * 60_000, '1h': 60 * 60_000, '6h': 6 * 60 * 60_000 };

/** Share of the axis that shows the past; the rest shows future limits. */
export const PAST = 52 / 60;

export interface Axis {
  /** Reference time of all positions. */
  readonly base: number;
  /** Duration of the past part in milliseconds. */
  readonly past: number;
}

export function axisOf(base: number, window: number): Axis {
  return { base, past: window * PAST };
}

/** Converts a time to percent of the past part; the base time is at 100. */
export function placeOf(axis: Axis, at: number): number {
  return ((at - (axis.base - axis.past)) / axis.past) * 100;
}

/** Shift since the base time, in percent. */
export function shiftOf(axis: Axis, now: number): number {
  return (-(now - axis.base) / axis.past) * 100;
}

export interface Bar {
  readonly state: string;
  readonly left: number;
  readonly width: number;
  /** True for the bars of an ended agent. */
  readonly faded: boolean;
}

export interface Lane {
  readonly bars: readonly Bar[];
  /** One notch per call. */
  readonly notches: readonly number[];
  /** Position of the agent's end. */
  readonly end: number | null;
  /** Position of the time limit. */
  readonly limit: number | null;
}

/** End of a bar that is still growing, far beyond now; the lane clips it. */
const BEYOND = 300;
/** Start of the visible axis. Earlier parts never move into view. */
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

/** Computes the ticks at round times. */
export function ticksOf(axis: Axis, window: number): readonly { readonly at: number; readonly left: number; readonly labelled: boolean }[] {
  const step = window / 6;
  const ticks = [];
  const from = axis.base - axis.past;
  // Covers one window more than is visible: the distance the axis moves before it is rebased.
  for (let at = Math.ceil(from / step) * step; at <= axis.base + axis.past + window; at += step) {
    ticks.push({ at, left: placeOf(axis, at), labelled: Math.round(at / step) % 2 === 0 });
  }
  return ticks;
}

const WORDS: Readonly<Record<string, string>> = { awaiting: 'awaits children' };

/** Describes a lane for screen readers. */
export function laneWords(segments: readonly LaneSegment[], now: number): string {
  const sums = new Map<string, number>();
  for (const segment of segments) {
    const ms = (segment.to === null ? now : Date.parse(segment.to)) - Date.parse(segment.from);
    const word = WORDS[segment.state] ?? lookOf(segment.state).word.toLowerCase();
    sums.set(word, (sums.get(word) ?? 0) + Math.max(0, ms));
  }
  return [...sums].map(([word, ms]) => `${word} ${span(ms)}`).join(', ');
}
