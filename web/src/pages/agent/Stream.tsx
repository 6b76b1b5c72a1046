import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDownToLine } from 'lucide-react';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Button } from '../../parts/Button';
import { EmptyState } from '../../parts/EmptyState';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { useKeys } from '../../parts/keys';
import type { StreamReader, StreamState } from './streamReader';
import { StepRow } from './StepRow';
import type { Step } from './steps';
import { summarizeSteps } from './stepText';
import css from './Stream.module.css';

/** Distance from the end that still counts as the end. */
const END_TOLERANCE_PX = 24;
/** Interval between announcements to screen readers. */
const ANNOUNCE_INTERVAL_MS = 10_000;

/** Announces new steps to screen readers at intervals. */
function StreamAnnouncer({ steps }: { readonly steps: readonly Step[] }) {
  const [announcement, setAnnouncement] = useState('');
  const lastAnnounced = useRef<string | null>(null);
  const latest = useRef(steps);
  latest.current = steps;
  useEffect(() => {
    const announce = () => {
      const all = latest.current;
      const last = all.at(-1)?.key ?? null;
      const from = all.findIndex((step) => step.key === lastAnnounced.current);
      // Steps that were there when the page opened are not announced.
      if (lastAnnounced.current !== null && last !== lastAnnounced.current) setAnnouncement(summarizeSteps(all.slice(from + 1)));
      lastAnnounced.current = last;
    };
    const timer = setInterval(announce, ANNOUNCE_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <p className="sr-only" role="status" aria-live="polite">
      {announcement}
    </p>
  );
}

export interface FollowState {
  readonly isOn: boolean;
  readonly setIsOn: (on: boolean) => void;
}

/** Toggle that keeps the stream scrolled to its end. */
export function FollowButton({ following, open }: { readonly following: FollowState; readonly open: boolean }) {
  return (
    <button type="button" className={css.follow} aria-pressed={following.isOn} onClick={() => following.setIsOn(!following.isOn)} title="Follow the stream (f)">
      <ArrowDownToLine size={12} aria-hidden="true" />
      {following.isOn ? (open ? 'Following' : 'At the end') : 'Follow'}
    </button>
  );
}

interface Props {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly reader: StreamReader;
  readonly state: StreamState;
  readonly following: FollowState;
  /** Shown below the last step. */
  readonly footer: ReactNode;
  readonly emptyText: ReactNode;
}

/** Live stream of an agent's messages, calls and output. */
export function Stream({ id, name, start, reader, state, following, footer, emptyText }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isLoadingEarlier, setIsLoadingEarlier] = useState(false);
  const { steps } = state.stream;
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
    if (following.isOn && list !== null) list.scrollTop = list.scrollHeight;
  }, [size, following.isOn, footer]);

  // First visible step, to scroll back to after earlier steps are inserted.
  const scrollAnchor = useRef<{ readonly key: string; readonly below: number } | null>(null);
  const loadEarlier = async () => {
    const top = box.current?.scrollTop ?? 0;
    const first = virtual.getVirtualItems().find((item) => item.end > top);
    const key = first === undefined ? undefined : steps[first.index]?.key;
    if (first !== undefined && key !== undefined) scrollAnchor.current = { key, below: top - first.start };
    setIsLoadingEarlier(true);
    await reader.loadEarlier().finally(() => setIsLoadingEarlier(false));
  };
  useLayoutEffect(() => {
    const anchor = scrollAnchor.current;
    if (anchor === null) return;
    const at = steps.findIndex((step) => step.key === anchor.key);
    if (at <= 0) return;
    scrollAnchor.current = null;
    virtual.scrollToIndex(at, { align: 'start' });
  }, [steps, virtual]);

  const lastTop = useRef(0);
  const onScroll = () => {
    const list = box.current;
    if (list === null) return;
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < END_TOLERANCE_PX;
    // Growth also fires scroll events; only scrolling up stops following.
    if (atEnd && !following.isOn) following.setIsOn(true);
    else if (!atEnd && following.isOn && list.scrollTop < lastTop.current - 1) following.setIsOn(false);
    lastTop.current = list.scrollTop;
  };
  useKeys({ f: () => following.setIsOn(!following.isOn) });

  if (state.phase === 'failed' && steps.length === 0) return <Problem error={state.error} title="The stream could not be read" onRetry={reader.retry} />;
  if (state.phase === 'loading') return <Skeleton rows={14} height={26} />;
  return (
    <div className={css.box}>
      <div ref={box} className={css.list} role="log" aria-live="off" aria-label={`Stream of ${name}`} tabIndex={0} onScroll={onScroll}>
        {state.hasEarlier && (
          <div className={css.earlier}>
            <Button small variant="quiet" disabled={isLoadingEarlier} onClick={() => void loadEarlier()}>
              Load earlier
            </Button>
          </div>
        )}
        {steps.length === 0 && <EmptyState title={state.isOpen ? 'No output yet' : 'No output'}>{emptyText}</EmptyState>}
        <div className={css.all} style={{ height: size }}>
          {virtual.getVirtualItems().map((item) => {
            const step = steps[item.index];
            return step === undefined ? null : (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className={css.row} style={{ transform: `translateY(${item.start}px)` }}>
                <StepRow id={id} step={step} start={start} onLoadWhole={reader.loadWhole} />
              </div>
            );
          })}
        </div>
        {footer}
        {state.phase === 'failed' && <Problem error={state.error} title="The stream was interrupted" onRetry={reader.retry} />}
      </div>
      <StreamAnnouncer steps={steps} />
    </div>
  );
}
