// Calls over time as bars. A range is selected by dragging or with the arrow keys.
import { useState } from 'react';
import { barAt, barsWithin, brushKey, rangeOf, timesOf, type Brush } from '../../parts/plot/brush';
import { useWidth } from '../../parts/plot/useWidth';
import { count, plural, time } from '../../parts/format';
import type { CallCounts, Histogram } from '../../api/types';
import css from './HistogramPlot.module.css';

interface Props {
  readonly histogram: Histogram;
  /** Selected range. */
  readonly since: number | null;
  readonly until: number | null;
  readonly onChoose: (since: number, until: number) => void;
  readonly onClear: () => void;
}

const HEIGHT = 66;
const BASE = 52;
/** Space above the bars for the marks of denied calls. */
const TOP = 12;

function told(bucket: CallCounts, from: number, step: number): string {
  const bad = [bucket.failed > 0 && `${count(bucket.failed)} failed`, bucket.denied > 0 && `${count(bucket.denied)} denied`].filter(Boolean);
  return `${time(from, true)} to ${time(from + step, true)}: ${[plural(bucket.calls, 'call'), ...bad].join(', ')}`;
}

export function HistogramPlot({ histogram, since, until, onChoose, onClear }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>(800);
  const { buckets, step } = histogram;
  const from = Date.parse(histogram.from);
  const bars = buckets.length;
  const max = Math.max(1, ...buckets.map((bucket) => bucket.calls));
  const [brush, setBrush] = useState<Brush>({ anchor: bars - 1, head: bars - 1 });
  const [drawing, setDrawing] = useState(false);
  const [focused, setFocused] = useState(false);
  const head = Math.min(brush.head, bars - 1);
  const chosen = drawing || (focused && brush.anchor !== brush.head)
    ? rangeOf(brush)
    : since !== null && until !== null
      ? barsWithin(since, until, from, step, bars)
      : null;
  const choose = (wanted: Brush) => onChoose(...timesOf(wanted, from, step));
  const each = width / bars;
  const thick = Math.max(1, each - (each > 4 ? 2 : 0.5));
  const high = (calls: number) => (calls / max) * (BASE - TOP);
  return (
    <div
      ref={ref}
      className={css.plot}
      role="slider"
      tabIndex={0}
      aria-label="Calls over time. Arrow keys move, with Shift they choose, Enter takes what is chosen, Escape lets it go."
      aria-valuemin={0}
      aria-valuemax={bars - 1}
      aria-valuenow={head}
      aria-valuetext={told(buckets[head] ?? { calls: 0, failed: 0, denied: 0 }, from + head * step, step)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
      onKeyDown={(event) => {
        const moved = brushKey(brush, event.key, event.shiftKey, bars);
        if (moved !== null) setBrush(moved);
        else if (event.key === 'Enter') choose(brush);
        else if (event.key === 'Escape' && chosen !== null) {
          setBrush({ anchor: head, head });
          onClear();
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        const at = barAt(event.clientX - event.currentTarget.getBoundingClientRect().left, width, bars);
        event.currentTarget.setPointerCapture(event.pointerId);
        setBrush({ anchor: at, head: at });
        setDrawing(true);
      }}
      onPointerMove={(event) => {
        if (!drawing) return;
        setBrush({ ...brush, head: barAt(event.clientX - event.currentTarget.getBoundingClientRect().left, width, bars) });
      }}
      onPointerUp={() => {
        if (!drawing) return;
        setDrawing(false);
        choose(brush);
      }}
      onPointerCancel={() => setDrawing(false)}
    >
      <svg width={width} height={HEIGHT} aria-hidden="true">
        {chosen !== null && <rect className={css.chosen} x={chosen[0] * each} y={0} width={(chosen[1] - chosen[0] + 1) * each} height={BASE} />}
        {buckets.map((bucket, at) => {
          const good = bucket.calls - bucket.failed;
          const within = chosen !== null && at >= chosen[0] && at <= chosen[1];
          const x = at * each;
          const bad = bucket.failed > 0 ? Math.max(2, high(bucket.failed)) : 0;
          const top = BASE - high(good) - (bad > 0 ? bad + 1 : 0);
          return (
            <g key={at} className={within ? css.within : undefined}>
              <title>{told(bucket, from + at * step, step)}</title>
              <rect className={css.good} x={x} width={thick} y={BASE - high(good)} height={high(good)} />
              {bad > 0 && <rect className={css.bad} x={x} width={thick} y={top} height={bad} />}
              {bucket.denied > 0 && <path className={css.denied} d={`M${x + thick / 2 - 3} ${top - 7}h6l-3 5z`} />}
            </g>
          );
        })}
        {focused && <path className={css.cursor} d={`M${head * each + thick / 2 - 4} ${BASE + 8}h8l-4 -6z`} />}
        <line className={css.base} x1={0} x2={width} y1={BASE + 0.5} y2={BASE + 0.5} />
        <text className={css.time} x={0} y={HEIGHT - 1}>{time(from)}</text>
        <text className={css.time} x={width} y={HEIGHT - 1} textAnchor="end">{time(histogram.to)}</text>
      </svg>
    </div>
  );
}
