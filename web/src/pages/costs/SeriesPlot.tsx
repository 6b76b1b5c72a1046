// Running total against the limit, and the composition of each step.
import { count, money, short, time } from '../../parts/format';
import { linear, ticks, timeLabel, timeTicks } from '../../parts/plot/scale';
import { useWidth } from '../../parts/plot/useWidth';
import type { CostSeries } from '../../api/types';
import { steps, type Step } from './stack';
import type { Unit } from './span';
import css from './SeriesPlot.module.css';

interface Props {
  readonly series: CostSeries;
  readonly unit: Unit;
  /** Limit for the whole span, if it has one. */
  readonly limitUsd: number | null;
  readonly now: number;
}

const LEFT = 46;
const RIGHT = 58;
const LINE = { top: 8, bottom: 100 } as const;
const BARS = { top: 140, bottom: 262 } as const;
const HEIGHT = 284;

/** Formats an axis value with no more digits than its ticks need. */
function mark(value: number, max: number, unit: Unit): string {
  if (unit === 'tokens') return short(value);
  const digits = max < 0.01 ? 4 : max < 1 ? 2 : max < 10 ? 1 : 0;
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: value === 0 ? 0 : digits, maximumFractionDigits: digits })}`;
}

function told(step: Step, series: CostSeries, unit: Unit): string {
  const name = new Map(series.keys.map(({ key, label }) => [key, label]));
  const one = (value: number) => (unit === 'money' ? money(value) : `${count(value)} tokens`);
  const parts = step.segments.map((segment) => `${name.get(segment.key) ?? segment.key} ${one(segment.to - segment.from)}`);
  return `${time(step.at)}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}; ${one(step.total)} until then`;
}

export function SeriesPlot({ series, unit, limitUsd, now }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>(700);
  const [from, to] = [Date.parse(series.from), Date.parse(series.to)];
  const all = steps(series, unit);
  const right = Math.max(LEFT + 100, width - RIGHT);
  const x = linear([from, to], [LEFT, right]);
  const total = Math.max(0, all.at(-1)?.total ?? 0);
  const limit = unit === 'money' ? limitUsd : null;
  const totals = ticks(Math.max(total, limit ?? 0));
  const y = linear([0, totals.at(-1) ?? 1], [LINE.bottom, LINE.top]);
  const sums = ticks(Math.max(0, ...all.map((step) => step.sum)));
  const bar = linear([0, sums.at(-1) ?? 1], [BARS.bottom, BARS.top]);
  const each = (right - LEFT) / Math.max(1, all.length);
  const thick = Math.max(1, each - (each > 5 ? 1.5 : 0.5));
  const colour = new Map(series.keys.map(({ key }, at) => [key, `var(--c${Math.min(6, at + 1)})`]));
  const past = all.filter((step) => step.at <= now);
  const points = [`${x(from)},${y(0)}`, ...past.map((step) => `${x(Math.min(step.at + series.step, Math.max(now, from)))},${y(Math.max(0, step.total))}`)];
  const end = Math.min(to, Math.max(from, now));
  const words = `Running total ${limit === null ? '' : `against the limit of ${money(limit)} `}and each ${series.step > 3_600_000 ? 'day' : 'hour'} by ${series.by}`;
  return (
    <div ref={ref} className={css.plot}>
      <svg width={width} height={HEIGHT} role="img" aria-label={words}>
        {totals.map((value) => (
          <g key={value}>
            <line className={css.grid} x1={LEFT} x2={right} y1={y(value)} y2={y(value)} />
            <text className={css.mark} x={LEFT - 6} y={y(value) + 4} textAnchor="end">{mark(value, totals.at(-1) ?? 1, unit)}</text>
          </g>
        ))}
        <polygon className={css.area} points={`${points.join(' ')} ${x(end)},${y(0)}`} />
        <polyline className={css.total} points={points.join(' ')} />
        <circle className={css.now} cx={x(end)} cy={y(total)} r={3.5} />
        <text className={css.sum} x={Math.min(x(end) + 10, width - 4)} y={y(total) + 4} textAnchor={x(end) + 66 > width ? 'end' : 'start'} dy={x(end) + 66 > width ? -8 : 0}>
          {unit === 'money' ? money(total) : short(total)}
        </text>
        {limit !== null && (
          <g className={css.limit}>
            <line x1={LEFT} x2={right} y1={y(limit)} y2={y(limit)} />
            <text x={LEFT + 4} y={y(limit) + 12}>limit {money(limit)}, agents stop here</text>
          </g>
        )}
        {sums.map((value) => (
          <g key={value}>
            <line className={css.grid} x1={LEFT} x2={right} y1={bar(value)} y2={bar(value)} />
            <text className={css.mark} x={LEFT - 6} y={bar(value) + 4} textAnchor="end">{mark(value, sums.at(-1) ?? 1, unit)}</text>
          </g>
        ))}
        {all.map((step) => (
          <g key={step.at}>
            <title>{told(step, series, unit)}</title>
            <rect className={css.catch} x={x(step.at)} width={each} y={BARS.top} height={BARS.bottom - BARS.top} />
            {step.segments.map((segment) => (
              <rect key={segment.key} x={x(step.at)} width={thick} y={bar(segment.to)} height={Math.max(0.5, bar(segment.from) - bar(segment.to))} style={{ fill: colour.get(segment.key) }} />
            ))}
          </g>
        ))}
        {timeTicks(from, to, width < 500 ? 4 : 7).map((at) => (
          <text key={at} className={css.mark} x={x(at)} y={HEIGHT - 6} textAnchor="middle">{timeLabel(at, to - from)}</text>
        ))}
      </svg>
    </div>
  );
}
