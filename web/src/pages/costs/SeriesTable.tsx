// Table form of the plot: one row per step, one column per group.
import { count, money, time } from '../../parts/format';
import type { CostSeries } from '../../api/types';
import { amount, steps } from './stack';
import type { Unit } from './span';
import css from './tables.module.css';

interface Props {
  readonly series: CostSeries;
  readonly unit: Unit;
  /** False if only screen readers get the table. */
  readonly visible: boolean;
}

export function SeriesTable({ series, unit, visible }: Props) {
  const one = (value: number) => (unit === 'money' ? money(value) : count(value));
  const found = steps(series, unit).filter((step) => step.segments.length > 0);
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
          <th scope="col">Together</th>
        </tr>
      </thead>
      <tbody>
        {found.map((step) => (
          <tr key={step.at}>
            <th scope="row">{time(step.at)}</th>
            {series.keys.map(({ key }) => {
              const segment = step.segments.find((other) => other.key === key);
              return <td key={key}>{segment === undefined ? '' : one(segment.to - segment.from)}</td>;
            })}
            <td>{one(step.sum)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">All</th>
          {series.keys.map((key) => (
            <td key={key.key}>{one(amount(key, unit))}</td>
          ))}
          <td>{one(amount(series.total, unit))}</td>
        </tr>
      </tfoot>
    </table>
  );
  return visible ? <div className={`${css.wide} scroll`} tabIndex={0} role="region" aria-label="The series as a table">{table}</div> : table;
}
