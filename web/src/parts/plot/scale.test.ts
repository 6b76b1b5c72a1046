import { describe, expect, it } from 'vitest';
import { createLinearScale, createLogScale, computeTicks, formatTimeTick, computeTimeTicks } from './scale';

const HOUR = 3_600_000;

describe('scales', () => {
  it('map values to pixels linearly, in either direction', () => {
    const up = createLinearScale([0, 10], [100, 0]);
    expect([up(0), up(5), up(10)]).toEqual([100, 50, 0]);
    expect(createLinearScale([3, 3], [0, 10])(3)).toBe(0);
  });

  it('map values logarithmically and clamp', () => {
    const scale = createLogScale([1, 100_000], [0, 100]);
    expect([scale(1), scale(10), scale(100), scale(100_000)]).toEqual([0, 20, 40, 100]);
    expect([scale(0), scale(0.2), scale(1e9)]).toEqual([0, 0, 100]);
  });
});

describe('ticks', () => {
  it('are round and reach the maximum', () => {
    expect(computeTicks(60)).toEqual([0, 20, 40, 60]);
    expect(computeTicks(0.55)).toEqual([0, 0.2, 0.4, 0.6]);
    expect(computeTicks(20.08)).toEqual([0, 10, 20, 30]);
    expect(computeTicks(1)).toEqual([0, 0.5, 1]);
  });

  it('exist without data', () => {
    expect(computeTicks(0)).toEqual([0, 1]);
    expect(computeTicks(Number.NaN)).toEqual([0, 1]);
  });

  it('are few, at round local times', () => {
    const from = new Date(2026, 10, 15, 2, 20).getTime();
    const marks = computeTimeTicks(from, from + 12 * HOUR);
    expect(marks.length).toBeLessThanOrEqual(6);
    for (const mark of marks) expect(new Date(mark).getMinutes()).toBe(0);
    const days = computeTimeTicks(new Date(2026, 10, 1).getTime(), new Date(2026, 11, 1).getTime());
    for (const day of days) expect(new Date(day).getHours()).toBe(0);
    expect(formatTimeTick(days[0] ?? 0, 30 * 24 * HOUR)).toMatch(/^\d+ Nov$/);
    expect(formatTimeTick(from, HOUR)).toBe('02:20');
  });
});
