import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useEffect, useLayoutEffect, type KeyboardEvent, type ReactNode, type RefObject } from 'react';
import { getServerTime, useNow } from '../../parts/clock';
import { pluralize, formatTime } from '../../parts/format';
import { LaneGrid } from './Lane';
import { getShift, buildTicks, type LaneAxis } from './lanes';
import { Rails, AgentRow, type RowLayout } from './AgentRow';
import type { TreeItem, CrewTreeState as TreeOf } from './levels';
import css from './CrewTree.module.css';

export interface CrewTreeProps {
  readonly tree: TreeOf;
  readonly items: readonly TreeItem[];
  readonly axis: LaneAxis;
  readonly window: number;
  readonly layout: RowLayout;
  readonly selected: string;
  readonly onSelect: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onFold: (id: string, open: boolean) => void;
  readonly onPast: (parent: string, open: boolean) => void;
  readonly onMore: (parent: string, past: boolean) => void;
  readonly onVisible: (ids: readonly string[], scrolled: boolean) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly newCount: number;
  readonly onShowNew: () => void;
  readonly box: RefObject<HTMLDivElement | null>;
}

const ROW_HEIGHT_PX: Readonly<Record<RowLayout, number>> = { wide: 32, phone: 54 };
const HEADER_HEIGHT_PX = 28;

/** Shifts all lanes with the clock through one CSS variable. */
function useLaneShift(box: RefObject<HTMLDivElement | null>, axis: LaneAxis): void {
  const now = useNow();
  useLayoutEffect(() => {
    box.current?.style.setProperty('--shift', `${getShift(axis, Math.max(now, getServerTime() - 1000)).toFixed(3)}%`);
  }, [box, axis, now]);
}

function TreeHeader({ axis, window }: { readonly axis: LaneAxis; readonly window: number }) {
  const now = useNow();
  return (
    <div role="row" className={css.head}>
      {['Agent', 'Task', 'Activity', 'Elapsed', 'Spent of budget'].map((name) => (
        <span key={name} role="columnheader">
          {name}
        </span>
      ))}
      <span role="columnheader" aria-label="Time" className={css.axis}>
        <span className={css.ticks} aria-hidden="true">
          <span className={css.moving}>
            {buildTicks(axis, window).map((tick) => tick.labelled && (
              <span key={tick.at} style={{ left: `${tick.left.toFixed(3)}%` }}>
                {formatTime(tick.at)}
              </span>
            ))}
          </span>
          <b>{formatTime(now)}</b>
        </span>
      </span>
    </div>
  );
}

/** Row without an agent: folded past agents, the next page, or a level that is loading. */
function PlaceholderRow({ item, onPast, onMore }: { readonly item: Exclude<TreeItem, { kind: 'agent' }> } & Pick<CrewTreeProps, 'onPast' | 'onMore'>) {
  const Icon = item.kind === 'past' && item.open ? ChevronDown : ChevronRight;
  let inner: ReactNode = <span className="dim">Loading…</span>;
  if (item.kind === 'past') {
    inner = (
      <button type="button" tabIndex={-1} onClick={() => onPast(item.parent, !item.open)}>
        <Icon size={12} aria-hidden="true" />
        {pluralize(item.count, 'ended', 'ended')}
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
    <div role="row" className={css.placeholder} aria-level={item.level} aria-posinset={item.pos} aria-setsize={item.size} aria-expanded={item.kind === 'past' ? item.open : undefined}>
      <div role="gridcell" className={css.placeholderCell}>
        <Rails rails={item.rails} last={item.last} />
        {inner}
      </div>
    </div>
  );
}

/** Virtualized tree of the crew. */
export function CrewTree(props: CrewTreeProps) {
  const { tree, items, axis, layout, selected, box, onVisible } = props;
  const height = ROW_HEIGHT_PX[layout];
  const headerHeight = layout === 'wide' ? HEADER_HEIGHT_PX : 0;
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
    scrollMargin: headerHeight,
    scrollPaddingStart: headerHeight,
  });
  useLaneShift(box, axis);
  useEffect(() => virtual.measure(), [virtual, height]);
  const shown = virtual.getVirtualItems();
  const visibleIds = shown.flatMap(({ index }) => {
    const item = items[index];
    return item?.kind === 'agent' ? [item.id] : [];
  });
  const isScrolled = (virtual.scrollOffset ?? 0) > 0;
  useEffect(() => onVisible(visibleIds, isScrolled));
  // The next page loads when its row scrolls into view.
  const next = shown.map(({ index }) => items[index]).find((item) => item?.kind === 'more');
  useEffect(() => {
    if (next?.kind === 'more') props.onMore(next.parent, next.past);
  }, [next?.key, items.length]);
  useEffect(() => {
    const index = items.findIndex((item) => item.kind === 'agent' && item.id === selected);
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [selected]);
  const activeId = visibleIds.includes(selected) ? `crew-${selected}` : undefined;
  return (
    <div className={css.wrap}>
      {props.newCount > 0 && (
        <button
          type="button"
          className={css.fresh}
          onClick={() => {
            props.onShowNew();
            // The click removes the button, so the focus moves to the tree.
            box.current?.focus();
          }}
        >
          Show {props.newCount} new
        </button>
      )}
      <div
        ref={box}
        role="treegrid"
        aria-label="Crew"
        aria-rowcount={items.length}
        aria-activedescendant={activeId}
        tabIndex={0}
        className={`${css.tree} scroll`}
        onKeyDown={props.onKeyDown}
      >
        {layout === 'wide' && <TreeHeader axis={axis} window={props.window} />}
        <div role="rowgroup" className={css.body} style={{ height: virtual.getTotalSize() }}>
          {layout === 'wide' && (
            <div className={css.lanes} aria-hidden="true">
              <LaneGrid axis={axis} window={props.window} />
            </div>
          )}
          {shown.map(({ index, key, start }) => {
            const item = items[index];
            if (item === undefined) return null;
            const row = item.kind === 'agent' ? tree.rows.get(item.id) : undefined;
            return (
              <div key={key} role="presentation" className={css.place} style={{ transform: `translateY(${start - headerHeight}px)`, height }}>
                {item.kind === 'agent' && row !== undefined && (
                  <AgentRow item={item} row={row} axis={axis} layout={layout} selected={item.id === selected} onSelect={props.onSelect} onOpen={props.onOpen} onFold={props.onFold} />
                )}
                {item.kind !== 'agent' && <PlaceholderRow item={item} onPast={props.onPast} onMore={props.onMore} />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
