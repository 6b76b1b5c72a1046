import { describe, expect, it } from 'vitest';
import { findBarAt, findBarsWithin, moveBrush, getBrushRange, getBrushTimes } from './brush';

describe('brush', () => {
  it('finds the bar under the pointer, clamped to the plot', () => {
    expect([findBarAt(0, 240, 120), findBarAt(3, 240, 120), findBarAt(239, 240, 120)]).toEqual([0, 1, 119]);
    expect([findBarAt(-50, 240, 120), findBarAt(999, 240, 120)]).toEqual([0, 119]);
  });

  it('selects the same range in either direction', () => {
    expect(getBrushRange({ anchor: 9, head: 4 })).toEqual([4, 9]);
    expect(getBrushTimes({ anchor: 9, head: 4 }, 1000, 10)).toEqual([1040, 1100]);
  });

  it('moves with the arrows, extends with shift, and is clamped', () => {
    const at = { anchor: 5, head: 5 };
    expect(moveBrush(at, 'ArrowRight', false, 120)).toEqual({ anchor: 6, head: 6 });
    expect(moveBrush(at, 'ArrowRight', true, 120)).toEqual({ anchor: 5, head: 6 });
    expect(moveBrush(at, 'Home', true, 120)).toEqual({ anchor: 5, head: 0 });
    expect(moveBrush(at, 'End', false, 120)).toEqual({ anchor: 119, head: 119 });
    expect(moveBrush({ anchor: 0, head: 0 }, 'ArrowLeft', false, 120)).toEqual({ anchor: 0, head: 0 });
    expect(moveBrush(at, 'x', false, 120)).toBeNull();
  });

  it('finds the bars of a time range', () => {
    expect(findBarsWithin(1040, 1100, 1000, 10, 120)).toEqual([4, 9]);
    expect(findBarsWithin(0, 5000, 1000, 10, 120)).toEqual([0, 119]);
    expect(findBarsWithin(0, 900, 1000, 10, 120)).toBeNull();
    const drawn = { anchor: 3, head: 17 };
    const [since, until] = getBrushTimes(drawn, 1_763_208_309_042, 30_001);
    expect(findBarsWithin(since, until, 1_763_208_309_042, 30_001, 120)).toEqual([3, 17]);
  });
});
