// Overview of the record: calls over time and their totals.
import { CircleX, ShieldX } from 'lucide-react';
import { barsWithin } from '../../parts/plot/brush';
import { useWide } from '../../parts/media';
import { count } from '../../parts/format';
import { Problem } from '../../parts/Problem';
import { HistogramPlot } from './HistogramPlot';
import { useHistogram } from './queries';
import type { Params } from './query';
import type { CallCounts, Histogram } from '../../api/types';
import css from './Over.module.css';

interface Props {
  readonly params: Params;
  /** Start and end of the histogram. */
  readonly frame: readonly [number, number];
  readonly since: number | null;
  readonly until: number | null;
  readonly onChoose: (since: number, until: number) => void;
  readonly onClear: () => void;
}

/** Sums the selected buckets; all of them without a selection. */
function added(histogram: Histogram, since: number | null, until: number | null): CallCounts {
  if (since === null || until === null) return histogram;
  const range = barsWithin(since, until, Date.parse(histogram.from), histogram.step, histogram.buckets.length);
  const within = range === null ? [] : histogram.buckets.slice(range[0], range[1] + 1);
  const sum = (key: keyof CallCounts) => within.reduce((all, bucket) => all + bucket[key], 0);
  return { calls: sum('calls'), failed: sum('failed'), denied: sum('denied') };
}

export function Over({ params, frame, since, until, onChoose, onClear }: Props) {
  const wide = useWide(700);
  const { data, error, refetch } = useHistogram(params, frame, wide ? 120 : 60);
  if (error !== null && data === undefined) {
    return (
      <div className={css.over}>
        <Problem title="The calls could not be counted" error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  const counted = data === undefined ? null : added(data, since, until);
  const about = data?.estimate === true ? 'about ' : '';
  return (
    <section className={css.over} aria-label="Calls over time">
      {data === undefined ? <div className={css.room} /> : <HistogramPlot key={data.buckets.length} {...{ histogram: data, since, until, onChoose, onClear }} />}
      <dl className={css.figures}>
        <dt>Calls</dt>
        <dd title={data?.estimate === true ? 'Estimated from a sample, because there are very many calls' : undefined}>{counted === null ? '' : about + count(counted.calls)}</dd>
        <dt data-state="failed">
          <CircleX size={12} aria-hidden="true" />
          Failed
        </dt>
        <dd>{counted === null ? '' : count(counted.failed)}</dd>
        <dt data-state="waiting_input">
          <ShieldX size={12} aria-hidden="true" />
          Denied
        </dt>
        <dd>{counted === null ? '' : count(counted.denied)}</dd>
      </dl>
    </section>
  );
}
