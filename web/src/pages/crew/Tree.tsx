import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useEffect, useLayoutEffect, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { serverNow, useNow } from '../../parts/clock';
import { plural, time } from '../../parts/format';
import { Grid } from './Lane';
import { shiftOf, ticksOf, type Axis } from './lanes';
import { Rails, Row, type Look } from './Row';
import type { Item, Tree as TreeOf } from './levels';
import css from './Tree.module.css';

export interface TreeProps {
  readonly tree: TreeOf;
  readonly items: readonly Item[];
  readonly axis: Axis;
  readonly window: number;
  readonly look: Look;
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onFold: (id: string, open: boolean) => void;
  readonly onPast: (parent: string, open: boolean) => void;
  readonly onMore: (parent: string, past: boolean) => void;
  readonly onLook: (ids: readonly string[], scrolled: boolean) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly unseen: number;
  readonly onShowNew: () => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

const HEIGHT: Readonly<Record<Look, number>> = { wide: 32, phone: 54 };
const HEAD = 28;

/** Shifts all lanes with the clock through one CSS variable. */
function useShift(box: RefObject<HTMLDivElement | null>, axis: Axis): void {
  const now = useNow();
  useLayoutEffect(() => {
    box.current?.style.setProperty('--shift', `${shiftOf(axis, Math.max(now, serverNow() - 1000)).toFixed(3)}%`);
  }, [box, axis, now]);
}

function Head({ axis, window }: { readonly axis: Axis; readonly window: number }) {
  const now = useNow();
  return (
    <div role="row" className={css.head}>
      {['Agent', 'Task', 'Doing now', 'Elapsed', 'Spent of budget'].map((name) => (
        <span key={name} role="columnheader">
          {name}
        </span>
      ))}
      <span role="columnheader" aria-label="Time" className={css.axis}>
        <span className={css.ticks} aria-hidden="true">
          <span className={css.moving}>
            {ticksOf(axis, window).map((tick) => tick.labelled && (
              <span key={tick.at} style={{ left: `${tick.left.toFixed(3)}%` }}>
                {time(tick.at)}
              </span>
            ))}
          </span>
          <b>{time(now)}</b>
        </span>
      </span>
    </div>
  );
}

/** Row without an agent: folded past agents, the next page, or a level that is loading. */
function Other({ item, onPast, onMore }: { readonly item: Exclude<Item, { kind: 'agent' }> } & Pick<TreeProps, 'onPast' | 'onMore'>) {
  const Icon = item.kind === 'past' && item.open ? ChevronDown : ChevronRight;
  let inner: ReactNode = <span className="dim">Loading…</span>;
  if (item.kind === 'past') {
    inner = (
      <button type="button" tabIndex={-1} onClick={() => onPast(item.parent, !item.open)}>
        <Icon size={12} aria-hidden="true" />
        {plural(item.count, 'ended', 'ended')}
      </button>
    );
  } else if (item.kind === 'more') {
    inner = (
      <button type="button" tabIndex={-1} onClick={() => onMore(item.parent, item.past)}>
        Show more
      </button>
    );
  }
  return (
    <div role="row" className={css.other} aria-level={item.level} aria-posinset={item.pos} aria-setsize={item.size} aria-expanded={item.kind === 'past' ? item.open : undefined}>
      <div role="gridcell" className={css.otherCell}>
        <Rails rails={item.rails} last={item.last} />
        {inner}
      </div>
    </div>
  );
}

/** Virtualized tree of the crew. */
export function Tree(props: TreeProps) {
  const { tree, items, axis, look, selected, box, onLook } = props;
  const height = HEIGHT[look];
  const head = look === 'wide' ? HEAD : 0;
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    scrollMargin: head,
    scrollPaddingStart: head,
  });
  useShift(box, axis);
  useEffect(() => virtual.measure(), [virtual, height]);
  const shown = virtual.getVirtualItems();
  const seen = shown.flatMap(({ index }) => {
    const item = items[index];
    return item?.kind === 'agent' ? [item.id] : [];
  });
  const scrolled = (virtual.scrollOffset ?? 0) > 0;
  useEffect(() => onLook(seen, scrolled));
  // The next page loads when its row scrolls into view.
  const next = shown.map(({ index }) => items[index]).find((item) => item?.kind === 'more');
  useEffect(() => {
    if (next?.kind === 'more') props.onMore(next.parent, next.past);
  }, [next?.key, items.length]);
  useEffect(() => {
    const index = items.findIndex((item) => item.kind === 'agent' && item.id === selected);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [selected]);
  const active = seen.includes(selected) ? `crew-${selected}` : undefined;
  return (
    <div className={css.wrap}>
      {props.unseen > 0 && (
        <button
          type="button"
          className={css.fresh}
          onClick={() => {
            props.onShowNew();
            // The click removes the button, so the focus moves to the tree.
            box.current?.focus();
          }}
        >
          {props.unseen} new
        </button>
      )}
      <div
        ref={box}
        role="treegrid"
        aria-label="Crew"
        aria-rowcount={items.length}
        aria-activedescendant={active}
        tabIndex={0}
        className={`${css.tree} scroll`}
        onKeyDown={props.onKeyDown}
      >
        {look === 'wide' && <Head axis={axis} window={props.window} />}
        <div role="rowgroup" className={css.body} style={{ height: virtual.getTotalSize() }}>
          {look === 'wide' && (
            <div className={css.lanes} aria-hidden="true">
              <Grid axis={axis} window={props.window} />
            </div>
          )}
          {shown.map(({ index, key, start }) => {
            const item = items[index];
            if (item === undefined) return null;
            const row = item.kind === 'agent' ? tree.rows.get(item.id) : undefined;
            return (
              <div key={key} role="presentation" className={css.place} style={{ transform: `translateY(${start - head}px)`, height }}>
                {item.kind === 'agent' && row !== undefined && (
                  <Row item={item} row={row} axis={axis} look={look} selected={item.id === selected} onSelect={props.onSelect} onOpen={props.onOpen} onFold={props.onFold} />
                )}
                {item.kind !== 'agent' && <Other item={item} onPast={props.onPast} onMore={props.onMore} />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
