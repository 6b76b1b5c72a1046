// What is drawn of a series: bars that stand on each other, and a line that adds them up.
import type { CostSeries, Spending } from '../../api/types';
import type { Unit } from './span';

export interface Segment {
  readonly key: string;
  /** Where it begins and ends, in the unit shown. */
  readonly from: number;
  readonly to: number;
}

export interface Step {
  readonly at: number;
  readonly segments: readonly Segment[];
  readonly sum: number;
  /** Everything up to its end. */
  readonly total: number;
}

export function amount(spent: Spending, unit: Unit): number {
  return unit === 'money' ? spent.usd : spent.tokens;
}

/** The steps of a series, bars in the order of the keys. A correction below nought takes no room. */
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

/** A field of a table that a spreadsheet reads. */
function field(value: string | number): string {
  const text = String(value);
  // What begins like a formula would be run as one.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csv(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

/** What is shown, as a table: a row for each step and each that spent something in it. */
export function seriesCsv(series: CostSeries): string {
  const label = new Map(series.keys.map((key) => [key.key, key.label]));
  const rows = series.points.flatMap((point) => point.values.map((value) => [point.from, label.get(value.key) ?? value.key, value.usd, value.tokens]));
  return csv([['from', series.by, 'usd', 'tokens'], ...rows]);
}
