import { describe, expect, it } from 'vitest';
import { formatCsv, formatSeriesCsv, buildSteps } from './stack';
import type { CostSeries } from '../../api/types';

const SERIES: CostSeries = {
  by: 'role',
  from: '2026-11-15T00:00:00.000Z',
  to: '2026-11-15T03:00:00.000Z',
  step: 3_600_000,
  keys: [
    { key: 'coder', label: 'coder', usd: 3, tokens: 30 },
    { key: 'other', label: 'other', usd: 1, tokens: 5 },
  ],
  points: [
    { from: '2026-11-15T00:00:00.000Z', values: [{ key: 'coder', usd: 1, tokens: 10 }] },
    { from: '2026-11-15T01:00:00.000Z', values: [] },
    { from: '2026-11-15T02:00:00.000Z', values: [{ key: 'other', usd: 1, tokens: 5 }, { key: 'coder', usd: 2, tokens: 20 }] },
  ],
  total: { usd: 4, tokens: 35 },
};

describe('a series', () => {
  it('stacks in the order of its keys and adds up to its total', () => {
    const steps = buildSteps(SERIES, 'money');
    expect(steps.map((step) => step.sum)).toEqual([1, 0, 3]);
    expect(steps.map((step) => step.total)).toEqual([1, 1, 4]);
    expect(steps[2]?.segments).toEqual([
      { key: 'coder', from: 0, to: 2 },
      { key: 'other', from: 2, to: 3 },
    ]);
    expect(buildSteps(SERIES, 'tokens').at(-1)?.total).toBe(35);
  });

  it('counts a correction without a bar', () => {
    const points = [{ from: '2026-11-15T00:00:00.000Z', values: [{ key: 'coder', usd: -0.5, tokens: 0 }] }];
    const [step] = buildSteps({ ...SERIES, points }, 'money');
    expect([step?.sum, step?.total, step?.segments.length]).toEqual([0, -0.5, 0]);
  });

  it('is exported with every value', () => {
    expect(formatSeriesCsv(SERIES).split('\r\n')).toEqual([
      'from,role,usd,tokens',
      '2026-11-15T00:00:00.000Z,coder,1,10',
      '2026-11-15T02:00:00.000Z,other,1,5',
      '2026-11-15T02:00:00.000Z,coder,2,20',
      '',
    ]);
  });

  it('escapes formulas in CSV', () => {
    expect(formatCsv([['=1+1', 'a,"b"', 2]])).toBe(`'=1+1,"a,""b""",2\r\n`);
  });
});
