import { describe, expect, it } from 'vitest';
import { dayOf, dayText, hoursLeft, spanOf } from './span';

const NOW = new Date(2026, 10, 15, 14, 12).getTime();
const day = (date: Date | null) => (date === null ? null : [dayText(date), date.getHours(), date.getMinutes()]);

describe('the time that is looked at', () => {
  it('begins at midnight here', () => {
    expect(day(spanOf('today', '', '', NOW).since)).toEqual(['2026-11-15', 0, 0]);
    expect(day(spanOf('7d', '', '', NOW).since)).toEqual(['2026-11-09', 0, 0]);
    expect(day(spanOf('30d', '', '', NOW).since)).toEqual(['2026-10-17', 0, 0]);
    expect(spanOf('7d', '', '', NOW).until).toBeNull();
  });

  it('takes the last day of a range whole', () => {
    const span = spanOf('range', '2026-11-01', '2026-11-03', NOW);
    expect([day(span.since), day(span.until)]).toEqual([['2026-11-01', 0, 0], ['2026-11-04', 0, 0]]);
  });

  it('is today where it means nothing', () => {
    expect(spanOf('week', '', '', NOW).name).toBe('today');
    expect(spanOf('range', '2026-11-09', '2026-11-01', NOW).name).toBe('today');
    expect(dayOf('soon')).toBeNull();
  });

  it('knows how much of the day is left', () => {
    expect(hoursLeft(NOW)).toBeCloseTo(9.8);
  });
});
