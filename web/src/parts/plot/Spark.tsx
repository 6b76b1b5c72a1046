import css from './plot.module.css';

interface Props {
  readonly values: readonly number[];
  /** Description for screen readers: "12 calls in the last interval". */
  readonly label: string;
}

const WIDTH = 78;
const HEIGHT = 16;

/** Line plot without axes. */
export function Spark({ values, label }: Props) {
  const max = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / max) * (HEIGHT - 4)).toFixed(1)}`);
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label} className={css.spark}>
      <polyline points={points.join(' ')} />
    </svg>
  );
}
