import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownToLine } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { Empty } from '../../parts/Empty';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import type { Reader, Reading } from './reader';
import { StepRow } from './StepRow';
import type { Step } from './steps';
import { summary } from './words';
import css from './Stream.module.css';

/** Distance from the end that still counts as the end. */
const NEAR = 24;
/** Interval between announcements to screen readers. */
const TOLD_EVERY = 10_000;

/** Announces new steps to screen readers at intervals. */
function Told({ steps }: { readonly steps: readonly Step[] }) {
  const [words, setWords] = useState('');
  const heard = useRef<string | null>(null);
  const latest = useRef(steps);
  latest.current = steps;
  useEffect(() => {
    const tell = () => {
      const all = latest.current;
      const last = all.at(-1)?.key ?? null;
      const from = all.findIndex((step) => step.key === heard.current);
      // Steps that were there when the page opened are not announced.
      if (heard.current !== null && last !== heard.current) setWords(summary(all.slice(from + 1)));
      heard.current = last;
    };
    const timer = setInterval(tell, TOLD_EVERY);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {words}
    </p>
  );
}

export interface Following {
  readonly on: boolean;
  readonly set: (on: boolean) => void;
}

/** Toggle that keeps the stream scrolled to its end. */
export function FollowButton({ following, open }: { readonly following: Following; readonly open: boolean }) {
  return (
    <button type="button" className={css.follow} aria-pressed={following.on} onClick={() => following.set(!following.on)} title="Follow the stream (f)">
      <ArrowDownToLine size={12} aria-hidden="true" />
      {following.on ? (open ? 'Following' : 'At the end') : 'Follow'}
    </button>
  );
}

interface Props {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly reader: Reader;
  readonly reading: Reading;
  readonly following: Following;
  /** Shown below the last step. */
  readonly now: ReactNode;
  readonly teach: ReactNode;
}

/** Live stream of an agent's messages, calls and output. */
export function Stream({ id, name, start, reader, reading, following, now, teach }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [loading, setLoading] = useState(false);
  const { steps } = reading.stream;
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => box.current,
    estimateSize: () => 26,
    overscan: 12,
    getItemKey: (at) => steps[at]?.key ?? at,
  });
  const size = virtual.getTotalSize();
  useLayoutEffect(() => {
    const list = box.current;
    if (following.on && list !== null) list.scrollTop = list.scrollHeight;
  }, [size, following.on, now]);

  // First visible step, to scroll back to after earlier steps are inserted.
  const held = useRef<{ readonly key: string; readonly below: number } | null>(null);
  const earlier = async () => {
    const top = box.current?.scrollTop ?? 0;
    const first = virtual.getVirtualItems().find((item) => item.end > top);
    const key = first === undefined ? undefined : steps[first.index]?.key;
    if (first !== undefined && key !== undefined) held.current = { key, below: top - first.start };
    setLoading(true);
    await reader.earlier().finally(() => setLoading(false));
  };
  useLayoutEffect(() => {
    const kept = held.current;
    if (kept === null) return;
    const at = steps.findIndex((step) => step.key === kept.key);
    if (at <= 0) return;
    held.current = null;
    virtual.scrollToIndex(at, { align: 'start' });
  }, [steps, virtual]);

  const lastTop = useRef(0);
  const onScroll = () => {
    const list = box.current;
    if (list === null) return;
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR;
    // Growth also fires scroll events; only scrolling up stops following.
    if (atEnd && !following.on) following.set(true);
    else if (!atEnd && following.on && list.scrollTop < lastTop.current - 1) following.set(false);
    lastTop.current = list.scrollTop;
  };
  useKeys({ f: () => following.set(!following.on) });

  if (reading.phase === 'failed' && steps.length === 0) return <Problem error={reading.error} title="The stream could not be read" onRetry={reader.again} />;
  if (reading.phase === 'loading') return <Skeleton rows={14} height={26} />;
  return (
    <div className={css.box}>
      <div ref={box} className={css.list} role="log" aria-live="off" aria-label={`Stream of ${name}`} tabIndex={0} onScroll={onScroll}>
        {reading.earlier && (
          <div className={css.earlier}>
            <Button small look="quiet" disabled={loading} onClick={() => void earlier()}>
              Earlier
            </Button>
          </div>
        )}
        {steps.length === 0 && <Empty title={reading.open ? 'No output yet' : 'No output'}>{teach}</Empty>}
        <div className={css.all} style={{ height: size }}>
          {virtual.getVirtualItems().map((item) => {
            const step = steps[item.index];
            return step === undefined ? null : (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className={css.row} style={{ transform: `translateY(${item.start}px)` }}>
                <StepRow id={id} step={step} start={start} onWhole={reader.whole} />
              </div>
            );
          })}
        </div>
        {now}
        {reading.phase === 'failed' && <Problem error={reading.error} title="The stream broke off" onRetry={reader.again} />}
      </div>
      <Told steps={steps} />
    </div>
  );
}
