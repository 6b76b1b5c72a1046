import { describe, expect, it } from 'vitest';
import { barAt, barsWithin, brushKey, rangeOf, timesOf } from './brush';

describe('choosing bars', () => {
  it('finds the bar under the pointer, and the outermost beside the plot', () => {
    expect([barAt(0, 240, 120), barAt(3, 240, 120), barAt(239, 240, 120)]).toEqual([0, 1, 119]);
    expect([barAt(-50, 240, 120), barAt(999, 240, 120)]).toEqual([0, 119]);
  });

  it('does not mind in which direction it is drawn', () => {
    expect(rangeOf({ anchor: 9, head: 4 })).toEqual([4, 9]);
    expect(timesOf({ anchor: 9, head: 4 }, 1000, 10)).toEqual([1040, 1100]);
  });

  it('moves with the arrows, extends with shift, and stays inside', () => {
    const at = { anchor: 5, head: 5 };
    expect(brushKey(at, 'ArrowRight', false, 120)).toEqual({ anchor: 6, head: 6 });
    expect(brushKey(at, 'ArrowRight', true, 120)).toEqual({ anchor: 5, head: 6 });
    expect(brushKey(at, 'Home', true, 120)).toEqual({ anchor: 5, head: 0 });
    expect(brushKey(at, 'End', false, 120)).toEqual({ anchor: 119, head: 119 });
    expect(brushKey({ anchor: 0, head: 0 }, 'ArrowLeft', false, 120)).toEqual({ anchor: 0, head: 0 });
    expect(brushKey(at, 'x', false, 120)).toBeNull();
  });

  it('knows which bars a time covers', () => {
    expect(barsWithin(1040, 1100, 1000, 10, 120)).toEqual([4, 9]);
    expect(barsWithin(0, 5000, 1000, 10, 120)).toEqual([0, 119]);
    expect(barsWithin(0, 900, 1000, 10, 120)).toBeNull();
    const drawn = { anchor: 3, head: 17 };
    const [since, until] = timesOf(drawn, 1_763_208_309_042, 30_001);
    expect(barsWithin(since, until, 1_763_208_309_042, 30_001, 120)).toEqual([3, 17]);
  });
});
