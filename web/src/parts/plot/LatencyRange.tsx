import { formatLatency } from '../format';
import { createLogScale } from './scale';
import css from './plot.module.css';

interface Props {
  /** Median in milliseconds. */
  readonly p50: number;
  /** 95th percentile in milliseconds. */
  readonly p95: number;
}

const WIDTH_PX = 114;
/** Range of the axis: a millisecond to a hundred seconds. */
export const AXIS_MS: readonly [number, number] = [1, 100_000];
const scaleX = createLogScale(AXIS_MS, [4, WIDTH_PX - 4]);

/** Latency on a logarithmic axis: the dot is the median, the end of the bar the 95th percentile. */
export function LatencyRange({ p50, p95 }: Props) {
  const [median, high] = [scaleX(p50), scaleX(p95)];
  return (
    <svg width={WIDTH_PX} height={14} role="img" aria-label={`median ${formatLatency(p50)}, 95th percentile ${formatLatency(p95)}`} className={css.range}>
      <line x1={0} x2={WIDTH_PX} y1={7} y2={7} className={css.axis} />
      <line x1={median} x2={high} y1={7} y2={7} className={css.span} />
      <circle cx={median} cy={7} r={3.5} />
      <line x1={high} x2={high} y1={2} y2={12} className={css.end} />
    </svg>
  );
}
