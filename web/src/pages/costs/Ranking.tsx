import { formatMoney, formatCompact } from '../../parts/format';
import type { CostSeries } from '../../api/types';
import { getAmount } from './stack';
import type { CostUnit } from './span';
import css from './tables.module.css';

/** Spending by group, highest first. */
export function Ranking({ series, unit }: { readonly series: CostSeries; readonly unit: CostUnit }) {
  const total = getAmount(series.total, unit);
  const max = Math.max(0, ...series.keys.map((key) => getAmount(key, unit)));
  return (
    <table className={css.ranking}>
      <caption className="sr-only">Spent by {series.by}</caption>
      <tbody>
        {series.keys.map((key, at) => {
          const value = getAmount(key, unit);
          const fill = { background: `var(--c${Math.min(6, at + 1)})` };
          return (
            <tr key={key.key}>
              <th scope="row" className="cut" title={key.label}>
                <i className={css.dot} style={fill} />
                {key.label}
              </th>
              <td className={css.share}>
                <span className={css.bar} style={{ ...fill, width: `${max > 0 ? (Math.max(0, value) / max) * 100 : 0}%` }} />
              </td>
              <td>{unit === 'money' ? formatMoney(value) : formatCompact(value)}</td>
              <td className="dim">{total > 0 ? `${Math.round((value / total) * 100)}%` : ''}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
