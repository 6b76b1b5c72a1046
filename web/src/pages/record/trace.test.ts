import { describe, expect, it } from 'vitest';
import type { NeighbourCall } from '../../api/types';
import { buildTraceBars } from './trace';

const NOW = Date.parse('2026-11-15T14:00:00Z');

function buildCall(number: number, from: number, to: number): NeighbourCall {
  const iso = (ms: number) => new Date(NOW + ms).toISOString();
  return { number, tool: 'mcp__mail__send', startedAt: iso(from), at: iso(to), outcome: 'done' };
}

describe('the bars of a call and its neighbours', () => {
  it('centre the call in the middle third', () => {
    const [bar] = buildTraceBars([buildCall(1, 0, 4000)], 1);
    expect(bar).toMatchObject({ isSelf: true, offset: null });
    expect(bar?.x).toBeCloseTo(1 / 3);
    expect(bar?.width).toBeCloseTo(1 / 3);
  });

  it('show overlapping calls beside it, and distant ones at the edge', () => {
    const bars = buildTraceBars([buildCall(1, -90_000, -80_000), buildCall(2, -1000, 500), buildCall(3, 0, 2000), buildCall(4, 60_000, 60_010)], 3);
    expect(bars.map((bar) => bar.offset)).toEqual([
      { side: 'before', ms: 80_000 },
      null,
      null,
      { side: 'after', ms: 58_000 },
    ]);
    expect(bars.every((bar) => bar.x >= 0 && bar.x + bar.width <= 1)).toBe(true);
    expect([bars[0]?.width, bars[3]?.x]).toEqual([0, 1]);
  });

  it('are empty without the call', () => {
    expect(buildTraceBars([buildCall(1, 0, 1)], 2)).toEqual([]);
  });
});
