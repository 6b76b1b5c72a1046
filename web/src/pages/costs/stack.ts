// Geometry of a cost series: stacked bars and a running total.
import type { CostSeries, Spending } from '../../api/types';
import type { CostUnit } from './span';

export interface BarSegment {
  readonly key: string;
  /** Start and end of the segment, in the chosen unit. */
  readonly from: number;
  readonly to: number;
}

export interface SeriesStep {
  readonly at: number;
  readonly segments: readonly BarSegment[];
  readonly sum: number;
  /** Running total at the end of the step. */
  readonly total: number;
}

export function getAmount(spent: Spending, unit: CostUnit): number {
  return unit === 'money' ? spent.usd : spent.tokens;
}

/**
 * Builds the steps of a series; segments follow the order of its keys. A negative correction gets
 * no segment.
 */
export function buildSteps(series: CostSeries, unit: CostUnit): readonly SeriesStep[] {
  let total = 0;
  return series.points.map((point) => {
    let top = 0;
    const segments = series.keys.flatMap(({ key }) => {
      const found = point.values.find((value) => value.key === key);
      const size = found === undefined ? 0 : Math.max(0, getAmount(found, unit));
      if (size === 0) return [];
      const segment = { key, from: top, to: top + size };
      top = segment.to;
      return [segment];
    });
    total += point.values.reduce((sum, value) => sum + getAmount(value, unit), 0);
    return { at: Date.parse(point.from), segments, sum: top, total };
  });
}

/** Escapes a CSV field. */
function formatCsvField(value: string | number): string {
  const text = String(value);
  // A spreadsheet would run text that starts like a formula.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function formatCsv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(formatCsvField).join(',')}\r\n`).join('');
}

/** Formats a series as CSV, one row per step and key. */
export function formatSeriesCsv(series: CostSeries): string {
  const label = new Map(series.keys.map((key) => [key.key, key.label]));
  const rows = series.points.flatMap((point) => point.values.map((value) => [point.from, label.get(value.key) ?? value.key, value.usd, value.tokens]));
  return formatCsv([['from', series.by, 'usd', 'tokens'], ...rows]);
}
