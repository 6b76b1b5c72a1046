import { describe, expect, it } from 'vitest';
import type { NeighbourCall } from '../../api/types';
import { bars } from './trace';

const NOW = Date.parse('2026-11-15T14:00:00Z');

function call(number: number, from: number, to: number): NeighbourCall {
  const iso = (ms: number) => new Date(NOW + ms).toISOString();
  return { number, tool: 'mcp__mail__send', startedAt: iso(from), at: iso(to), outcome: 'done' };
}

describe('a call among its neighbours', () => {
  it('stands in the middle third, with as much time on either side', () => {
    const [bar] = bars([call(1, 0, 4000)], 1);
    expect(bar).toMatchObject({ self: true, away: null });
    expect(bar?.x).toBeCloseTo(1 / 3);
    expect(bar?.width).toBeCloseTo(1 / 3);
  });

  it('has those beside it that overlap, and at the edge those that are far away', () => {
    const found = bars([call(1, -90_000, -80_000), call(2, -1000, 500), call(3, 0, 2000), call(4, 60_000, 60_010)], 3);
    expect(found.map((bar) => bar.away)).toEqual([
      { side: 'before', ms: 80_000 },
      null,
      null,
      { side: 'after', ms: 58_000 },
    ]);
    expect(found.every((bar) => bar.x >= 0 && bar.x + bar.width <= 1)).toBe(true);
    expect([found[0]?.width, found[3]?.x]).toEqual([0, 1]);
  });

  it('is nothing where the call is not among them', () => {
    expect(bars([call(1, 0, 1)], 2)).toEqual([]);
  });
});
