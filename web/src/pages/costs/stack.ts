// Geometry of a cost series: stacked bars and a running total.
import type { CostSeries, Spending } from '../../api/types';
import type { Unit } from './span';

export interface Segment {
  readonly key: string;
  /** Start and end of the segment, in the chosen unit. */
  readonly from: number;
  readonly to: number;
}

export interface Step {
  readonly at: number;
  readonly segments: readonly Segment[];
  readonly sum: number;
  /** Running total at the end of the step. */
  readonly total: number;
}

export function amount(spent: Spending, unit: Unit): number {
  return unit === 'money' ? spent.usd : spent.tokens;
}

/**
 * Builds the steps of a series; segments follow the order of its keys. A negative correction gets
 * no segment.
 */
export function steps(series: CostSeries, unit: Unit): readonly Step[] {
  let total = 0;
  return series.points.map((point) => {
    let top = 0;
    const segments = series.keys.flatMap(({ key }) => {
      const found = point.values.find((value) => value.key === key);
      const size = found === undefined ? 0 : Math.max(0, amount(found, unit));
      if (size === 0) return [];
      const segment = { key, from: top, to: top + size };
      top = segment.to;
      return [segment];
    });
    total += point.values.reduce((sum, value) => sum + amount(value, unit), 0);
    return { at: Date.parse(point.from), segments, sum: top, total };
  });
}

/** Escapes a CSV field. */
function field(value: string | number): string {
  const text = String(value);
  // A spreadsheet would run text that starts like a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/** Formats a series as CSV, one row per step and key. */
export function seriesCsv(series: CostSeries): string {
  const label = new Map(series.keys.map((key) => [key.key, key.label]));
  const rows = series.points.flatMap((point) => point.values.map((value) => [point.from, label.get(value.key) ?? value.key, value.usd, value.tokens]));
  return csv([['from', series.by, 'usd', 'tokens'], ...rows]);
}
