// Time span of the costs page as the address gives it, by the visitor's local midnight.

export const SPANS = ['today', '7d', '30d', 'range'] as const;
export type SpanName = (typeof SPANS)[number];
export const GROUPINGS = ['role', 'model', 'task', 'lineage'] as const;
export type CostGrouping = (typeof GROUPINGS)[number];
export const COST_UNITS = ['money', 'tokens'] as const;
export type CostUnit = (typeof COST_UNITS)[number];

export interface TimeSpan {
  readonly name: SpanName;
  readonly since: Date;
  /** Null means until now. */
  readonly until: Date | null;
}

function getMidnight(at: number, days = 0): Date {
  const date = new Date(at);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + days);
  return date;
}

/** Parses the value of a date input; returns null if it is invalid. */
export function parseDay(text: string): Date | null {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return null;
  const date = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]));
  return Number.isNaN(date.getTime()) ? null : date;
}

export function formatDay(date: Date): string {
  const pad = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/**
 * Resolves the span in the address. An invalid range falls back to today; the last day of a range
 * is included.
 */
export function parseSpan(name: string, from: string, to: string, now: number): TimeSpan {
  if (name === '7d') return { name, since: getMidnight(now, -6), until: null };
  if (name === '30d') return { name, since: getMidnight(now, -29), until: null };
  if (name === 'range') {
    const [first, last] = [parseDay(from) ?? getMidnight(now, -6), parseDay(to) ?? getMidnight(now)];
    const until = getMidnight(last.getTime(), 1);
    if (first < until) return { name, since: first, until };
  }
  return { name: 'today', since: getMidnight(now), until: null };
}

/** Counts the hours until local midnight. */
export function countHoursLeft(now: number): number {
  return (getMidnight(now, 1).getTime() - now) / 3_600_000;
}

export const SPAN_TEXTS: Readonly<Record<SpanName, string>> = { today: 'today', '7d': 'in 7 days', '30d': 'in 30 days', range: 'in this range' };
