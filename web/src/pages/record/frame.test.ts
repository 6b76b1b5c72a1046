import { describe, expect, it } from 'vitest';
import { frameOf } from './frame';

const NOW = 1_000_000_000;
const HOUR = 3_600_000;

describe('the time that the bars show', () => {
  it('is what was asked for, until now, else a day', () => {
    expect(frameOf(null, { since: NOW - HOUR, until: null }, NOW)).toEqual([NOW - HOUR, NOW]);
    expect(frameOf(null, { since: null, until: null }, NOW)).toEqual([NOW - 24 * HOUR, NOW]);
    expect(frameOf([0, 1], { since: NOW - HOUR, until: null }, NOW)).toEqual([NOW - HOUR, NOW]);
  });

  it('stays where a stretch of it was chosen', () => {
    const shown = [NOW - HOUR, NOW] as const;
    expect(frameOf(shown, { since: NOW - HOUR / 2, until: NOW - HOUR / 4 }, NOW)).toBe(shown);
  });

  it('shows a stretch from elsewhere with some time around it, but no time to come', () => {
    expect(frameOf(null, { since: NOW - 3 * HOUR, until: NOW - 2 * HOUR }, NOW)).toEqual([NOW - 4 * HOUR, NOW - HOUR]);
    expect(frameOf([0, 10], { since: NOW - HOUR, until: NOW }, NOW)).toEqual([NOW - 2 * HOUR, NOW]);
  });
});
