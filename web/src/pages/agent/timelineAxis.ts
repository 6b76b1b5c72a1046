// Layout of an agent's timeline, in percent of its length.
import type { LaneSegment } from '../../api/types';
import type { AgentStory, CommitView, StoryMark } from '../../api/types';

export interface TimelineAxis {
  readonly from: number;
  readonly to: number;
}

/** Axis from the start of the work to its end or to now. */
export function buildAxis(story: AgentStory, now: number): TimelineAxis {
  const first = story.segments.find((segment) => segment.state !== 'queued') ?? story.segments[0];
  const begin = first === undefined ? Date.parse(story.row.startedAt) : Date.parse(first.from);
  const end = story.row.finishedAt === null ? now : Date.parse(story.row.finishedAt);
  return { from: begin, to: Math.max(end, begin + 1) };
}

export function toPercent(axis: TimelineAxis, at: number): number {
  return Math.min(100, Math.max(0, ((at - axis.from) / (axis.to - axis.from)) * 100));
}

export interface StateBar {
  readonly state: string;
  readonly left: number;
  readonly width: number;
  readonly from: string;
  readonly to: string | null;
}

export function buildBars(segments: readonly LaneSegment[], axis: TimelineAxis): readonly StateBar[] {
  return segments.flatMap((segment) => {
    const left = toPercent(axis, Date.parse(segment.from));
    const right = segment.to === null ? 100 : toPercent(axis, Date.parse(segment.to));
    return right <= left ? [] : [{ state: segment.state, left, width: right - left, from: segment.from, to: segment.to }];
  });
}

/** Smallest distance between two distinguishable notches. */
const MIN_NOTCH_DISTANCE_PERCENT = 0.15;

export function buildNotches(calls: readonly number[], axis: TimelineAxis): readonly number[] {
  const notches: number[] = [];
  for (const at of calls) {
    if (at < axis.from || at > axis.to) continue;
    const left = toPercent(axis, at);
    if (left - (notches.at(-1) ?? -1) >= MIN_NOTCH_DISTANCE_PERCENT) notches.push(left);
  }
  return notches;
}

/** Spending as a polyline in a box of 1000 by `height`; null without enough data. */
export function buildMoneyLine(story: AgentStory, axis: TimelineAxis, height: number): { readonly line: string; readonly area: string } | null {
  const now = story.row.costUsd;
  const points = story.spend.map((point) => ({ x: toPercent(axis, Date.parse(point.at)) * 10, usd: point.usd }));
  if (now !== null && points.length > 0) points.push({ x: 1000, usd: Math.max(now, points.at(-1)?.usd ?? 0) });
  const maxUsd = Math.max(...points.map((point) => point.usd));
  if (points.length < 2 || !(maxUsd > 0)) return null;
  const y = (usd: number) => (height - 2 - (usd / maxUsd) * (height - 4)).toFixed(1);
  const line = points.map((point) => `${point.x.toFixed(1)},${y(point.usd)}`).join(' ');
  const first = points[0]?.x.toFixed(1) ?? '0';
  return { line, area: `${line} 1000,${height} ${first},${height}` };
}

export interface PlacedMark extends StoryMark {
  readonly left: number;
  /** True if the label fits before the next mark. */
  readonly hasLabel: boolean;
}

/** Estimated width of a label per character, and of its icon. */
const LABEL_PERCENT_PER_CHARACTER = 0.65;
const ICON_PERCENT = 2.2;
/** Labels end here; the total cost is shown after it. */
const LABELS_END_PERCENT = 88;

/**
 * Positions the marks. A label that would overlap the next mark is hidden; the tooltip still has
 * it.
 */
export function placeMarks(marks: readonly StoryMark[], commits: readonly CommitView[], axis: TimelineAxis): readonly PlacedMark[] {
  // Git times have whole seconds: the commit was made within the second.
  const toTimeOfCommit = (at: string) => new Date(Math.min(axis.to, Date.parse(at) + 999)).toISOString();
  const commitMarks = commits.map((commit): StoryMark => ({ at: toTimeOfCommit(commit.at), kind: 'commit', text: commit.hash.slice(0, 7), href: null }));
  const all = [...marks.filter((mark) => mark.kind !== 'end'), ...commitMarks].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const placed = all.map((mark) => ({ ...mark, left: toPercent(axis, Date.parse(mark.at)) }));
  return placed.map((mark, at) => {
    const next = placed[at + 1]?.left ?? LABELS_END_PERCENT;
    const labelWidth = ICON_PERCENT + Math.min(mark.text.length, 18) * LABEL_PERCENT_PER_CHARACTER;
    return { ...mark, hasLabel: mark.left + labelWidth <= Math.min(next, LABELS_END_PERCENT) };
  });
}
