// Calls over time as bars. A range is selected by dragging or with the arrow keys.
import { useState } from 'react';
import { findBarAt, findBarsWithin, moveBrush, getBrushRange, getBrushTimes, type Brush } from '../../parts/plot/brush';
import { useElementWidth } from '../../parts/plot/useElementWidth';
import { formatCount, pluralize, formatTime } from '../../parts/format';
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

const HEIGHT_PX = 66;
const BASELINE_PX = 52;
/** Space above the bars for the marks of denied calls. */
const MARKS_HEIGHT_PX = 12;

function describeBucket(bucket: CallCounts, from: number, step: number): string {
  const failures = [bucket.failed > 0 && `${formatCount(bucket.failed)} failed`, bucket.denied > 0 && `${formatCount(bucket.denied)} denied`].filter(Boolean);
  return `${formatTime(from, true)} to ${formatTime(from + step, true)}: ${[pluralize(bucket.calls, 'call'), ...failures].join(', ')}`;
}

export function HistogramPlot({ histogram, since, until, onChoose, onClear }: Props) {
  const [ref, width] = useElementWidth<HTMLDivElement>(800);
  const { buckets, step } = histogram;
  const from = Date.parse(histogram.from);
  const bars = buckets.length;
  const max = Math.max(1, ...buckets.map((bucket) => bucket.calls));
  const [brush, setBrush] = useState<Brush>({ anchor: bars - 1, head: bars - 1 });
  const [isDrawing, setIsDrawing] = useState(false);
  const [isFocused, setIsFocused] = useState(false);
  const head = Math.min(brush.head, bars - 1);
  const chosen = isDrawing || (isFocused && brush.anchor !== brush.head)
    ? getBrushRange(brush)
    : since !== null && until !== null
      ? findBarsWithin(since, until, from, step, bars)
      : null;
  const choose = (range: Brush) => onChoose(...getBrushTimes(range, from, step));
  const bucketWidth = width / bars;
  const barWidth = Math.max(1, bucketWidth - (bucketWidth > 4 ? 2 : 0.5));
  const getHeight = (calls: number) => (calls / max) * (BASELINE_PX - MARKS_HEIGHT_PX);
  return (
    <div
      ref={ref}
      className={css.plot}
      role="slider"
      tabIndex={0}
      aria-label="Calls over time. Arrow keys move, Shift extends the selection, Enter applies it, Escape clears it."
      aria-valuemin={0}
      aria-valuemax={bars - 1}
      aria-valuenow={head}
      aria-valuetext={describeBucket(buckets[head] ?? { calls: 0, failed: 0, denied: 0 }, from + head * step, step)}
      onFocus={() => setIsFocused(true)}
      onBlur={() => setIsFocused(false)}
      onKeyDown={(event) => {
        const moved = moveBrush(brush, event.key, event.shiftKey, bars);
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
        const at = findBarAt(event.clientX - event.currentTarget.getBoundingClientRect().left, width, bars);
        event.currentTarget.setPointerCapture(event.pointerId);
        setBrush({ anchor: at, head: at });
        setIsDrawing(true);
      }}
      onPointerMove={(event) => {
        if (!isDrawing) return;
        setBrush({ ...brush, head: findBarAt(event.clientX - event.currentTarget.getBoundingClientRect().left, width, bars) });
      }}
      onPointerUp={() => {
        if (!isDrawing) return;
        setIsDrawing(false);
        choose(brush);
      }}
      onPointerCancel={() => setIsDrawing(false)}
    >
      <svg width={width} height={HEIGHT_PX} aria-hidden="true">
        {chosen !== null && <rect className={css.chosen} x={chosen[0] * bucketWidth} y={0} width={(chosen[1] - chosen[0] + 1) * bucketWidth} height={BASELINE_PX} />}
        {buckets.map((bucket, at) => {
          const otherCalls = bucket.calls - bucket.failed;
          const isChosen = chosen !== null && at >= chosen[0] && at <= chosen[1];
          const x = at * bucketWidth;
          const failedHeight = bucket.failed > 0 ? Math.max(2, getHeight(bucket.failed)) : 0;
          const top = BASELINE_PX - getHeight(otherCalls) - (failedHeight > 0 ? failedHeight + 1 : 0);
          return (
            <g key={at} className={isChosen ? css.within : undefined}>
              <title>{describeBucket(bucket, from + at * step, step)}</title>
              <rect className={css.good} x={x} width={barWidth} y={BASELINE_PX - getHeight(otherCalls)} height={getHeight(otherCalls)} />
              {failedHeight > 0 && <rect className={css.bad} x={x} width={barWidth} y={top} height={failedHeight} />}
              {bucket.denied > 0 && <path className={css.denied} d={`M${x + barWidth / 2 - 3} ${top - 7}h6l-3 5z`} />}
            </g>
          );
        })}
        {isFocused && <path className={css.cursor} d={`M${head * bucketWidth + barWidth / 2 - 4} ${BASELINE_PX + 8}h8l-4 -6z`} />}
        <line className={css.base} x1={0} x2={width} y1={BASELINE_PX + 0.5} y2={BASELINE_PX + 0.5} />
        <text className={css.time} x={0} y={HEIGHT_PX - 1}>{formatTime(from)}</text>
        <text className={css.time} x={width} y={HEIGHT_PX - 1} textAnchor="end">{formatTime(histogram.to)}</text>
      </svg>
    </div>
  );
}
