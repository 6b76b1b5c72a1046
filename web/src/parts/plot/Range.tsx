import { took } from '../format';
import { logarithmic } from './scale';
import css from './plot.module.css';

interface Props {
  /** Median in milliseconds. */
  readonly p50: number;
  /** 95th percentile in milliseconds. */
  readonly p95: number;
}

const WIDTH = 114;
/** Range of the axis: a millisecond to a hundred seconds. */
export const AXIS: readonly [number, number] = [1, 100_000];
const place = logarithmic(AXIS, [4, WIDTH - 4]);

/** Latency on a logarithmic axis: the dot is the median, the end of the bar the 95th percentile. */
export function Range({ p50, p95 }: Props) {
  const [half, most] = [place(p50), place(p95)];
  return (
    <svg width={WIDTH} height={14} role="img" aria-label={`median ${took(p50)}, 95th percentile ${took(p95)}`} className={css.range}>
      <line x1={0} x2={WIDTH} y1={7} y2={7} className={css.axis} />
      <line x1={half} x2={most} y1={7} y2={7} className={css.span} />
      <circle cx={half} cy={7} r={3.5} />
      <line x1={most} x2={most} y1={2} y2={12} className={css.end} />
    </svg>
  );
}
