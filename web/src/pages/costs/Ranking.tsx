import { money, short } from '../../parts/format';
import type { CostSeries } from '../../api/types';
import { amount } from './stack';
import type { Unit } from './span';
import css from './tables.module.css';

/** Spending by group, highest first. */
export function Ranking({ series, unit }: { readonly series: CostSeries; readonly unit: Unit }) {
  const all = amount(series.total, unit);
  const most = Math.max(0, ...series.keys.map((key) => amount(key, unit)));
  return (
    <table className={css.ranking}>
      <caption className="sr-only">Spent by {series.by}</caption>
      <tbody>
        {series.keys.map((key, at) => {
          const value = amount(key, unit);
          const fill = { background: `var(--c${Math.min(6, at + 1)})` };
          return (
            <tr key={key.key}>
              <th scope="row" className="cut" title={key.label}>
                <i className={css.dot} style={fill} />
                {key.label}
              </th>
              <td className={css.share}>
                <span className={css.bar} style={{ ...fill, width: `${most > 0 ? (Math.max(0, value) / most) * 100 : 0}%` }} />
              </td>
              <td>{unit === 'money' ? money(value) : short(value)}</td>
              <td className="dim">{all > 0 ? `${Math.round((value / all) * 100)}%` : ''}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
