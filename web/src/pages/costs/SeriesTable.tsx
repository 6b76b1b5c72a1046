// Table form of the plot: one row per step, one column per group.
import { formatCount, formatMoney, formatTime } from '../../parts/format';
import type { CostSeries } from '../../api/types';
import { getAmount, buildSteps } from './stack';
import type { CostUnit } from './span';
import css from './tables.module.css';

interface Props {
  readonly series: CostSeries;
  readonly unit: CostUnit;
  /** False if only screen readers get the table. */
  readonly visible: boolean;
}

export function SeriesTable({ series, unit, visible }: Props) {
  const formatAmount = (value: number) => (unit === 'money' ? formatMoney(value) : formatCount(value));
  const rows = buildSteps(series, unit).filter((step) => step.segments.length > 0);
  const table = (
    <table className={visible ? css.table : 'sr-only'}>
      <caption className="sr-only">{unit === 'money' ? 'Dollars' : 'Tokens'} over time by {series.by}</caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          {series.keys.map(({ key, label }) => (
            <th key={key} scope="col">
              {label}
            </th>
          ))}
          <th scope="col">Total</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((step) => (
          <tr key={step.at}>
            <th scope="row">{formatTime(step.at)}</th>
            {series.keys.map(({ key }) => {
              const segment = step.segments.find((other) => other.key === key);
              return <td key={key}>{segment === undefined ? '' : formatAmount(segment.to - segment.from)}</td>;
            })}
            <td>{formatAmount(step.sum)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Total</th>
          {series.keys.map((key) => (
            <td key={key.key}>{formatAmount(getAmount(key, unit))}</td>
          ))}
          <td>{formatAmount(getAmount(series.total, unit))}</td>
        </tr>
      </tfoot>
    </table>
  );
  return visible ? <div className={`${css.wide} scroll`} tabIndex={0} role="region" aria-label="The series as a table">{table}</div> : table;
}
