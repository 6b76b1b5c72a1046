import { describe, expect, it } from 'vitest';
import { chooseFrame } from './frame';

const NOW = 1_000_000_000;
const HOUR = 3_600_000;

describe('the time frame of the histogram', () => {
  it('is the requested time until now, otherwise a day', () => {
    expect(chooseFrame(null, { since: NOW - HOUR, until: null }, NOW)).toEqual([NOW - HOUR, NOW]);
    expect(chooseFrame(null, { since: null, until: null }, NOW)).toEqual([NOW - 24 * HOUR, NOW]);
    expect(chooseFrame([0, 1], { since: NOW - HOUR, until: null }, NOW)).toEqual([NOW - HOUR, NOW]);
  });

  it('stays if a part of it is selected', () => {
    const shown = [NOW - HOUR, NOW] as const;
    expect(chooseFrame(shown, { since: NOW - HOUR / 2, until: NOW - HOUR / 4 }, NOW)).toBe(shown);
  });

  it('surrounds a range from outside with some time, but none in the future', () => {
    expect(chooseFrame(null, { since: NOW - 3 * HOUR, until: NOW - 2 * HOUR }, NOW)).toEqual([NOW - 4 * HOUR, NOW - HOUR]);
    expect(chooseFrame([0, 10], { since: NOW - HOUR, until: NOW }, NOW)).toEqual([NOW - 2 * HOUR, NOW]);
  });
});
