// Geometry of the lanes, in percent. Positions are relative to a base time; one CSS variable shifts
// them as time passes, so that a second costs one style change and no rendering.
import { formatDuration } from '../../parts/format';
import { hasEnded, getStateLook } from '../../parts/State';
import type { CrewRow, LaneSegment } from '../../api/types';

export type WindowName = '15m' | '1h' | '6h';

/** Length of each window in milliseconds. */
export const WINDOW_MS: Readonly<Record<WindowName, number>> = { '15m': 15 * 60_000, '1h': 60 * 60_000, '6h': 6 * 60 * 60_000 };

/** Share of the axis that shows the past; the rest shows future limits. */
export const PAST_SHARE = 52 / 60;

export interface LaneAxis {
  /** Reference time of all positions. */
  readonly base: number;
  /** Duration of the past part in milliseconds. */
  readonly past: number;
}

export function buildAxis(base: number, window: number): LaneAxis {
  return { base, past: window * PAST_SHARE };
}

/** Converts a time to percent of the past part; the base time is at 100. */
export function toPercent(axis: LaneAxis, at: number): number {
  return ((at - (axis.base - axis.past)) / axis.past) * 100;
}

/** Shift since the base time, in percent. */
export function getShift(axis: LaneAxis, now: number): number {
  return (-(now - axis.base) / axis.past) * 100;
}

export interface LaneBar {
  readonly state: string;
  readonly left: number;
  readonly width: number;
  /** True for the bars of an ended agent. */
  readonly isFaded: boolean;
}

export interface LaneLayout {
  readonly bars: readonly LaneBar[];
  /** One notch per call. */
  readonly notches: readonly number[];
  /** Position of the agent's end. */
  readonly end: number | null;
  /** Position of the time limit. */
  readonly limit: number | null;
}

/** End of a bar that is still growing, far beyond now; the lane clips it. */
const OPEN_BAR_END_PERCENT = 300;
/** Start of the visible axis. Earlier parts never move into view. */
const AXIS_START_PERCENT = -2;

export function layOutLane(row: CrewRow, axis: LaneAxis): LaneLayout {
  const faded = hasEnded(row.state);
  const bars: LaneBar[] = [];
  for (const segment of row.segments ?? []) {
    const left = Math.max(AXIS_START_PERCENT, toPercent(axis, Date.parse(segment.from)));
    const right = segment.to === null ? OPEN_BAR_END_PERCENT : toPercent(axis, Date.parse(segment.to));
    if (right > AXIS_START_PERCENT) bars.push({ state: segment.state, left, width: Math.max(0, right - left), isFaded: faded });
  }
  const notches = (row.calls ?? []).map((at) => toPercent(axis, at)).filter((left) => left > AXIS_START_PERCENT);
  const end = row.finishedAt === null ? null : toPercent(axis, Date.parse(row.finishedAt));
  const limit = row.deadlineAt === null || faded ? null : toPercent(axis, Date.parse(row.deadlineAt));
  return { bars, notches, end: end !== null && end > AXIS_START_PERCENT ? end : null, limit };
}

/** Computes the ticks at round times. */
export function buildTicks(axis: LaneAxis, window: number): readonly { readonly at: number; readonly left: number; readonly labelled: boolean }[] {
  const step = window / 6;
  const ticks = [];
  const from = axis.base - axis.past;
  // Covers one window more than is visible: the distance the axis moves before it is rebased.
  for (let at = Math.ceil(from / step) * step; at <= axis.base + axis.past + window; at += step) {
    ticks.push({ at, left: toPercent(axis, at), labelled: Math.round(at / step) % 2 === 0 });
  }
  return ticks;
}

const SEGMENT_LABELS: Readonly<Record<string, string>> = { awaiting: 'awaits children' };

/** Describes a lane for screen readers. */
export function describeLane(segments: readonly LaneSegment[], now: number): string {
  const durations = new Map<string, number>();
  for (const segment of segments) {
    const ms = (segment.to === null ? now : Date.parse(segment.to)) - Date.parse(segment.from);
    const label = SEGMENT_LABELS[segment.state] ?? getStateLook(segment.state).label.toLowerCase();
    durations.set(label, (durations.get(label) ?? 0) + Math.max(0, ms));
  }
  return [...durations].map(([word, ms]) => `${word} ${formatDuration(ms)}`).join(', ');
}
