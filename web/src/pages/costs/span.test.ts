import { describe, expect, it } from 'vitest';
import { parseDay, formatDay, countHoursLeft, parseSpan } from './span';

const NOW = new Date(2026, 10, 15, 14, 12).getTime();
const day = (date: Date | null) => (date === null ? null : [formatDay(date), date.getHours(), date.getMinutes()]);

describe('a time span', () => {
  it('starts at local midnight', () => {
    expect(day(parseSpan('today', '', '', NOW).since)).toEqual(['2026-11-15', 0, 0]);
    expect(day(parseSpan('7d', '', '', NOW).since)).toEqual(['2026-11-09', 0, 0]);
    expect(day(parseSpan('30d', '', '', NOW).since)).toEqual(['2026-10-17', 0, 0]);
    expect(parseSpan('7d', '', '', NOW).until).toBeNull();
  });

  it('includes the last day of a range', () => {
    const span = parseSpan('range', '2026-11-01', '2026-11-03', NOW);
    expect([day(span.since), day(span.until)]).toEqual([['2026-11-01', 0, 0], ['2026-11-04', 0, 0]]);
  });

  it('falls back to today', () => {
    expect(parseSpan('week', '', '', NOW).name).toBe('today');
    expect(parseSpan('range', '2026-11-09', '2026-11-01', NOW).name).toBe('today');
    expect(parseDay('soon')).toBeNull();
  });

  it('counts the remaining hours of the day', () => {
    expect(countHoursLeft(NOW)).toBeCloseTo(9.8);
  });
});
