// Overview of the record: calls over time and their totals.
import { CircleX, ShieldX } from 'lucide-react';
import { findBarsWithin } from '../../parts/plot/brush';
import { useMinWidth } from '../../parts/media';
import { formatCount } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { HistogramPlot } from './HistogramPlot';
import { useHistogram } from './queries';
import type { RecordParams } from './query';
import type { CallCounts, Histogram } from '../../api/types';
import css from './RecordOverview.module.css';

interface Props {
  readonly params: RecordParams;
  /** Start and end of the histogram. */
  readonly frame: readonly [number, number];
  readonly since: number | null;
  readonly until: number | null;
  readonly onChoose: (since: number, until: number) => void;
  readonly onClear: () => void;
}

/** Sums the selected buckets; all of them without a selection. */
function sumChosen(histogram: Histogram, since: number | null, until: number | null): CallCounts {
  if (since === null || until === null) return histogram;
  const range = findBarsWithin(since, until, Date.parse(histogram.from), histogram.step, histogram.buckets.length);
  const within = range === null ? [] : histogram.buckets.slice(range[0], range[1] + 1);
  const sum = (key: keyof CallCounts) => within.reduce((total, bucket) => total + bucket[key], 0);
  return { calls: sum('calls'), failed: sum('failed'), denied: sum('denied') };
}

export function RecordOverview({ params, frame, since, until, onChoose, onClear }: Props) {
  const isWide = useMinWidth(700);
  const { data, error, refetch } = useHistogram(params, frame, isWide ? 120 : 60);
  if (error !== null && data === undefined) {
    return (
      <div className={css.over}>
        <Problem title="The calls could not be counted" error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  const totals = data === undefined ? null : sumChosen(data, since, until);
  const prefix = data?.estimate === true ? 'about ' : '';
  return (
    <section className={css.over} aria-label="Calls over time">
      {data === undefined ? <div className={css.room} /> : <HistogramPlot key={data.buckets.length} {...{ histogram: data, since, until, onChoose, onClear }} />}
      <dl className={css.figures}>
        <dt>Calls</dt>
        <dd title={data?.estimate === true ? 'Estimated from a sample, because there are very many calls' : undefined}>{totals === null ? '' : prefix + formatCount(totals.calls)}</dd>
        <dt data-state="failed">
          <CircleX size={12} aria-hidden="true" />
          Failed
        </dt>
        <dd>{totals === null ? '' : formatCount(totals.failed)}</dd>
        <dt data-state="waiting_input">
          <ShieldX size={12} aria-hidden="true" />
          Denied
        </dt>
        <dd>{totals === null ? '' : formatCount(totals.denied)}</dd>
      </dl>
    </section>
  );
}
