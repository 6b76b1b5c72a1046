import { describe, expect, it } from 'vitest';
import type { LaneSegment } from '../../api/types';
import { PAST, WINDOWS, axisOf, laneOf, laneWords, placeOf, shiftOf, ticksOf } from './lanes';
import { row } from './sample';

const NOW = Date.parse('2026-11-15T14:12:00.000Z');
const axis = axisOf(NOW, WINDOWS['1h']);
const at = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

describe('the axis', () => {
  it('has now at the end of its past part, and 52 minutes of an hour before it', () => {
    expect(placeOf(axis, NOW)).toBe(100);
    expect(placeOf(axis, NOW - 52 * 60_000)).toBeCloseTo(0);
    expect(PAST).toBeCloseTo(0.8667, 3);
  });

  it('moves to the left as time passes', () => {
    expect(shiftOf(axis, NOW) === 0).toBe(true);
    expect(shiftOf(axis, NOW + 26 * 60_000)).toBeCloseTo(-50);
  });

  it('marks round times, every other one with words', () => {
    const ticks = ticksOf(axis, WINDOWS['1h']);
    expect(new Date(ticks[0]?.at ?? 0).toISOString()).toBe('2026-11-15T13:20:00.000Z');
    expect(ticks.slice(0, 4).map((tick) => tick.labelled)).toEqual([true, false, true, false]);
    expect(ticks.at(-1)?.left).toBeGreaterThan(200);
  });
});

describe('a lane', () => {
  it('places what was, and lets what goes on reach beyond now', () => {
    const segments: LaneSegment[] = [
      { state: 'running', from: at(26), to: at(13) },
      { state: 'waiting_review', from: at(13), to: null },
    ];
    const { bars } = laneOf(row('a', { segments }), axis);
    expect(bars[0]).toMatchObject({ state: 'running', faded: false });
    expect(bars[0]?.left).toBeCloseTo(50);
    expect(bars[0]?.width).toBeCloseTo(25);
    expect((bars[1]?.left ?? 0) + (bars[1]?.width ?? 0)).toBe(300);
  });

  it('cuts what began before the axis, and leaves out what ended before it', () => {
    const segments: LaneSegment[] = [
      { state: 'queued', from: at(600), to: at(500) },
      { state: 'running', from: at(500), to: null },
    ];
    const { bars } = laneOf(row('a', { segments, calls: [NOW - 400 * 60_000, NOW - 26 * 60_000] }), axis);
    expect(bars).toHaveLength(1);
    expect(bars[0]?.left).toBe(-2);
    expect(laneOf(row('a', { calls: [NOW - 400 * 60_000, NOW - 26 * 60_000] }), axis).notches).toHaveLength(1);
  });

  it('fades what is over, and marks where it ended', () => {
    const over = row('a', { state: 'failed', finishedAt: at(26), deadlineAt: at(-5), segments: [{ state: 'running', from: at(39), to: at(26) }] });
    const lane = laneOf(over, axis);
    expect(lane.bars[0]?.faded).toBe(true);
    expect(lane.end).toBeCloseTo(50);
    expect(lane.limit).toBeNull();
    expect(laneOf(row('a', { finishedAt: at(500), state: 'failed' }), axis).end).toBeNull();
  });

  it('has a bracket where its time is up', () => {
    expect(laneOf(row('a', { deadlineAt: at(-5.2) }), axis).limit).toBeCloseTo(110);
  });

  it('says the same in words', () => {
    const segments: LaneSegment[] = [
      { state: 'running', from: at(30), to: at(20) },
      { state: 'awaiting', from: at(20), to: at(10) },
      { state: 'running', from: at(10), to: null },
    ];
    expect(laneWords(segments, NOW)).toBe('running 20 m, awaits children 10 m');
  });
});
