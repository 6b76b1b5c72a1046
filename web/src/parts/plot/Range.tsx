import { took } from '../format';
import { logarithmic } from './scale';
import css from './plot.module.css';

interface Props {
  /** Half of all took no longer, in milliseconds. */
  readonly p50: number;
  /** Ninety-five of a hundred took no longer. */
  readonly p95: number;
}

const WIDTH = 114;
/** What the axis reaches over: a millisecond to a hundred seconds. */
export const AXIS: readonly [number, number] = [1, 100_000];
const place = logarithmic(AXIS, [4, WIDTH - 4]);

/** How long calls take, on an axis by powers of ten: the dot is the half, the bar's end ninety-five of a hundred. */
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
