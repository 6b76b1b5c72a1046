import css from './Meter.module.css';

interface Props {
  readonly value: number;
  /** Null without a limit: draws nothing, but keeps the space. */
  readonly max: number | null;
  /** Measured quantity, for screen readers: "Spent". */
  readonly label: string;
  /** Value in words: "$1.84 of $6.00". */
  readonly text: string;
  readonly className?: string;
}

/** Used part of a limit; changes colour near the limit and at it. */
export function Meter({ value, max, label, text, className }: Props) {
  const share = max === null || max <= 0 ? 0 : Math.min(1, value / max);
  const warning = max !== null && max > 0 && value >= max ? css.hot : share >= 0.85 ? css.warm : undefined;
  const classes = [css.meter, warning, className].filter(Boolean).join(' ');
  if (max === null) return <span className={`${classes} ${css.none}`} aria-hidden="true" />;
  return (
    <span className={classes} role="meter" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} aria-valuetext={text}>
      <i style={{ transform: `scaleX(${share})` }} />
    </span>
  );
}
