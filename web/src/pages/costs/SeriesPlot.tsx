// Running total against the limit, and the composition of each step.
import { formatCount, formatMoney, formatCompact, formatTime } from '../../parts/format';
import { createLinearScale, computeTicks, formatTimeTick, computeTimeTicks } from '../../parts/plot/scale';
import { useElementWidth } from '../../parts/plot/useElementWidth';
import type { CostSeries } from '../../api/types';
import { buildSteps, type SeriesStep } from './stack';
import type { CostUnit } from './span';
import css from './SeriesPlot.module.css';

interface Props {
  readonly series: CostSeries;
  readonly unit: CostUnit;
  /** Limit for the whole span, if it has one. */
  readonly limitUsd: number | null;
  readonly now: number;
}

const LEFT_PX = 46;
const RIGHT_MARGIN_PX = 58;
const TOTAL_AREA_PX = { top: 8, bottom: 100 } as const;
const BARS_AREA_PX = { top: 140, bottom: 262 } as const;
const HEIGHT_PX = 284;

/** Formats an axis value with no more digits than its ticks need. */
function formatMark(value: number, max: number, unit: CostUnit): string {
  if (unit === 'tokens') return formatCompact(value);
  const digits = max < 0.01 ? 4 : max < 1 ? 2 : max < 10 ? 1 : 0;
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: value === 0 ? 0 : digits, maximumFractionDigits: digits })}`;
}

function describeStep(step: SeriesStep, series: CostSeries, unit: CostUnit): string {
  const labels = new Map(series.keys.map(({ key, label }) => [key, label]));
  const formatAmount = (value: number) => (unit === 'money' ? formatMoney(value) : `${formatCount(value)} tokens`);
  const parts = step.segments.map((segment) => `${labels.get(segment.key) ?? segment.key} ${formatAmount(segment.to - segment.from)}`);
  return `${formatTime(step.at)}: ${parts.length === 0 ? 'nothing' : parts.join(', ')}; running total ${formatAmount(step.total)}`;
}

export function SeriesPlot({ series, unit, limitUsd, now }: Props) {
  const [ref, width] = useElementWidth<HTMLDivElement>(700);
  const [from, to] = [Date.parse(series.from), Date.parse(series.to)];
  const steps = buildSteps(series, unit);
  const right = Math.max(LEFT_PX + 100, width - RIGHT_MARGIN_PX);
  const x = createLinearScale([from, to], [LEFT_PX, right]);
  const total = Math.max(0, steps.at(-1)?.total ?? 0);
  const limit = unit === 'money' ? limitUsd : null;
  const totalTicks = computeTicks(Math.max(total, limit ?? 0));
  const y = createLinearScale([0, totalTicks.at(-1) ?? 1], [TOTAL_AREA_PX.bottom, TOTAL_AREA_PX.top]);
  const barTicks = computeTicks(Math.max(0, ...steps.map((step) => step.sum)));
  const barY = createLinearScale([0, barTicks.at(-1) ?? 1], [BARS_AREA_PX.bottom, BARS_AREA_PX.top]);
  const stepWidth = (right - LEFT_PX) / Math.max(1, steps.length);
  const barWidth = Math.max(1, stepWidth - (stepWidth > 5 ? 1.5 : 0.5));
  const colour = new Map(series.keys.map(({ key }, at) => [key, `var(--c${Math.min(6, at + 1)})`]));
  const past = steps.filter((step) => step.at <= now);
  const points = [`${x(from)},${y(0)}`, ...past.map((step) => `${x(Math.min(step.at + series.step, Math.max(now, from)))},${y(Math.max(0, step.total))}`)];
  const end = Math.min(to, Math.max(from, now));
  const label = `Running total ${limit === null ? '' : `against the limit of ${formatMoney(limit)} `}and each ${series.step > 3_600_000 ? 'day' : 'hour'} by ${series.by}`;
  return (
    <div ref={ref} className={css.plot}>
      <svg width={width} height={HEIGHT_PX} role="img" aria-label={label}>
        {totalTicks.map((value) => (
          <g key={value}>
            <line className={css.grid} x1={LEFT_PX} x2={right} y1={y(value)} y2={y(value)} />
            <text className={css.mark} x={LEFT_PX - 6} y={y(value) + 4} textAnchor="end">{formatMark(value, totalTicks.at(-1) ?? 1, unit)}</text>
          </g>
        ))}
        <polygon className={css.area} points={`${points.join(' ')} ${x(end)},${y(0)}`} />
        <polyline className={css.total} points={points.join(' ')} />
        <circle className={css.now} cx={x(end)} cy={y(total)} r={3.5} />
        <text className={css.sum} x={Math.min(x(end) + 10, width - 4)} y={y(total) + 4} textAnchor={x(end) + 66 > width ? 'end' : 'start'} dy={x(end) + 66 > width ? -8 : 0}>
          {unit === 'money' ? formatMoney(total) : formatCompact(total)}
        </text>
        {limit !== null && (
          <g className={css.limit}>
            <line x1={LEFT_PX} x2={right} y1={y(limit)} y2={y(limit)} />
            <text x={LEFT_PX + 4} y={y(limit) + 12}>limit {formatMoney(limit)}, agents stop here</text>
          </g>
        )}
        {barTicks.map((value) => (
          <g key={value}>
            <line className={css.grid} x1={LEFT_PX} x2={right} y1={barY(value)} y2={barY(value)} />
            <text className={css.mark} x={LEFT_PX - 6} y={barY(value) + 4} textAnchor="end">{formatMark(value, barTicks.at(-1) ?? 1, unit)}</text>
          </g>
        ))}
        {steps.map((step) => (
          <g key={step.at}>
            <title>{describeStep(step, series, unit)}</title>
            <rect className={css.hitArea} x={x(step.at)} width={stepWidth} y={BARS_AREA_PX.top} height={BARS_AREA_PX.bottom - BARS_AREA_PX.top} />
            {step.segments.map((segment) => (
              <rect key={segment.key} x={x(step.at)} width={barWidth} y={barY(segment.to)} height={Math.max(0.5, barY(segment.from) - barY(segment.to))} style={{ fill: colour.get(segment.key) }} />
            ))}
          </g>
        ))}
        {computeTimeTicks(from, to, width < 500 ? 4 : 7).map((at) => (
          <text key={at} className={css.mark} x={x(at)} y={HEIGHT_PX - 6} textAnchor="middle">{formatTimeTick(at, to - from)}</text>
        ))}
      </svg>
    </div>
  );
}
