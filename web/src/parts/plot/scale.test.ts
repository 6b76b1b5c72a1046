import { describe, expect, it } from 'vitest';
import { linear, logarithmic, ticks, timeLabel, timeTicks } from './scale';

const HOUR = 3_600_000;

describe('scales', () => {
  it('go evenly from values to pixels, in either direction', () => {
    const up = linear([0, 10], [100, 0]);
    expect([up(0), up(5), up(10)]).toEqual([100, 50, 0]);
    expect(linear([3, 3], [0, 10])(3)).toBe(0);
  });

  it('go by powers of ten and keep what is outside at the edge', () => {
    const place = logarithmic([1, 100_000], [0, 100]);
    expect([place(1), place(10), place(100), place(100_000)]).toEqual([0, 20, 40, 100]);
    expect([place(0), place(0.2), place(1e9)]).toEqual([0, 0, 100]);
  });
});

describe('the marks of an axis', () => {
  it('are round and reach over the greatest value', () => {
    expect(ticks(60)).toEqual([0, 20, 40, 60]);
    expect(ticks(0.55)).toEqual([0, 0.2, 0.4, 0.6]);
    expect(ticks(20.08)).toEqual([0, 10, 20, 30]);
    expect(ticks(1)).toEqual([0, 0.5, 1]);
  });

  it('are there where nothing was spent', () => {
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(Number.NaN)).toEqual([0, 1]);
  });

  it('stand at round times of the reader, and are few', () => {
    const from = new Date(2026, 10, 15, 2, 20).getTime();
    const marks = timeTicks(from, from + 12 * HOUR);
    expect(marks.length).toBeLessThanOrEqual(6);
    for (const mark of marks) expect(new Date(mark).getMinutes()).toBe(0);
    const days = timeTicks(new Date(2026, 10, 1).getTime(), new Date(2026, 11, 1).getTime());
    for (const day of days) expect(new Date(day).getHours()).toBe(0);
    expect(timeLabel(days[0] ?? 0, 30 * 24 * HOUR)).toMatch(/^\d+ Nov$/);
    expect(timeLabel(from, HOUR)).toBe('02:20');
  });
});
