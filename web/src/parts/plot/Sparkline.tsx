import css from './plot.module.css';

interface Props {
  readonly values: readonly number[];
  /** Description for screen readers: "12 calls in the last interval". */
  readonly label: string;
}

const WIDTH_PX = 78;
const HEIGHT_PX = 16;

/** Line plot without axes. */
export function Sparkline({ values, label }: Props) {
  const max = Math.max(1, ...values);
  const step = WIDTH_PX / Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(HEIGHT_PX - 2 - (value / max) * (HEIGHT_PX - 4)).toFixed(1)}`);
  return (
    <svg width={WIDTH_PX} height={HEIGHT_PX} role="img" aria-label={label} className={css.spark}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}
