import { describe, expect, it } from 'vitest';
import type { LaneSegment } from '../../api/types';
import { PAST_SHARE, WINDOW_MS, buildAxis, layOutLane, describeLane, toPercent, getShift, buildTicks } from './lanes';
import { sampleRow } from './sample';

const NOW = Date.parse('2026-11-15T14:12:00.000Z');
const axis = buildAxis(NOW, WINDOW_MS['1h']);
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

describe('the axis', () => {
  it('ends its past part now, and shows 52 minutes of an hour', () => {
    expect(toPercent(axis, NOW)).toBe(100);
    expect(toPercent(axis, NOW - 52 * 60_000)).toBeCloseTo(0);
    expect(PAST_SHARE).toBeCloseTo(0.8667, 3);
  });

  it('shifts to the left as time passes', () => {
    expect(getShift(axis, NOW) === 0).toBe(true);
    expect(getShift(axis, NOW + 26 * 60_000)).toBeCloseTo(-50);
  });

  it('has ticks at round times, every other one with a label', () => {
    const ticks = buildTicks(axis, WINDOW_MS['1h']);
    expect(new Date(ticks[0]?.at ?? 0).toISOString()).toBe('2026-11-15T13:20:00.000Z');
    expect(ticks.slice(0, 4).map((tick) => tick.labelled)).toEqual([true, false, true, false]);
    expect(ticks.at(-1)?.left).toBeGreaterThan(200);
  });
});

describe('a lane', () => {
  it('positions past segments, and extends the current one beyond now', () => {
    const segments: LaneSegment[] = [
      { state: 'running', from: minutesAgo(26), to: minutesAgo(13) },
      { state: 'waiting_review', from: minutesAgo(13), to: null },
    ];
    const { bars } = layOutLane(sampleRow('a', { segments }), axis);
    expect(bars[0]).toMatchObject({ state: 'running', isFaded: false });
    expect(bars[0]?.left).toBeCloseTo(50);
    expect(bars[0]?.width).toBeCloseTo(25);
    expect((bars[1]?.left ?? 0) + (bars[1]?.width ?? 0)).toBe(300);
  });

  it('clips segments at the start of the axis, and omits earlier ones', () => {
    const segments: LaneSegment[] = [
      { state: 'queued', from: minutesAgo(600), to: minutesAgo(500) },
      { state: 'running', from: minutesAgo(500), to: null },
    ];
    const { bars } = layOutLane(sampleRow('a', { segments, calls: [NOW - 400 * 60_000, NOW - 26 * 60_000] }), axis);
    expect(bars).toHaveLength(1);
    expect(bars[0]?.left).toBe(-2);
    expect(layOutLane(sampleRow('a', { calls: [NOW - 400 * 60_000, NOW - 26 * 60_000] }), axis).notches).toHaveLength(1);
  });

  it('fades an ended agent, and marks its end', () => {
    const ended = sampleRow('a', { state: 'failed', finishedAt: minutesAgo(26), deadlineAt: minutesAgo(-5), segments: [{ state: 'running', from: minutesAgo(39), to: minutesAgo(26) }] });
    const lane = layOutLane(ended, axis);
    expect(lane.bars[0]?.isFaded).toBe(true);
    expect(lane.end).toBeCloseTo(50);
    expect(lane.limit).toBeNull();
    expect(layOutLane(sampleRow('a', { finishedAt: minutesAgo(500), state: 'failed' }), axis).end).toBeNull();
  });

  it('marks the time limit', () => {
    expect(layOutLane(sampleRow('a', { deadlineAt: minutesAgo(-5.2) }), axis).limit).toBeCloseTo(110);
  });

  it('is described for screen readers', () => {
    const segments: LaneSegment[] = [
      { state: 'running', from: minutesAgo(30), to: minutesAgo(20) },
      { state: 'awaiting', from: minutesAgo(20), to: minutesAgo(10) },
      { state: 'running', from: minutesAgo(10), to: null },
    ];
    expect(describeLane(segments, NOW)).toBe('running 20 m, awaits children 10 m');
  });
});
