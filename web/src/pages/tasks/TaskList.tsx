import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { get } from '../../api/client';
import { matchKinds, getTaskNumber, useLiveEvents } from '../../api/live';
import { Button } from '../../parts/Button';
import { Timestamp } from '../../parts/Elapsed';
import { Problem } from '../../parts/Problem';
import { Skeleton } from '../../parts/Skeleton';
import { StateIcon } from '../../parts/State';
import { formatMoney, pluralize } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { formatTaskNumber } from './moves';
import type { TaskRow, Tasks } from '../../api/types';
import type { TaskFilter } from './columns';
import { TaskMark } from './TaskMark';
import css from './TaskList.module.css';

const PAGE_SIZE = 100;
const ROW_HEIGHT_PX = 29;
const REFRESH_INTERVAL_MS = 500;

interface Props {
  readonly filter: TaskFilter;
  /** Total number of tasks, loaded or not. */
  readonly total: number;
  readonly selected: number | null;
  readonly href: (number: number) => string;
  readonly onOpen: (number: number | null) => void;
}

/** Replaces rows in their pages without moving any. */
export function patchPages(data: InfiniteData<Tasks, string | null>, rows: readonly TaskRow[]): InfiniteData<Tasks, string | null> {
  const rowsByNumber = new Map(rows.map((row) => [row.number, row]));
  const pages = data.pages.map((page) => ({ ...page, tasks: page.tasks.map((row) => rowsByNumber.get(row.number) ?? row) }));
  return { ...data, pages };
}

/** Patches the rows named by events, and counts new tasks. */
function useLiveRows(key: readonly unknown[]): number {
  const client = useQueryClient();
  const [newCount, setNewCount] = useState(0);
  const changedNumbers = useRef(new Set<number>());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    setNewCount(0);
    return () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [key.join('\n')]);
  const refresh = async () => {
    timer.current = null;
    const data = client.getQueryData<InfiniteData<Tasks, string | null>>(key);
    const loaded = new Set(data?.pages.flatMap((page) => page.tasks.map((row) => row.number)));
    const numbers = [...changedNumbers.current].filter((number) => loaded.has(number)).slice(0, PAGE_SIZE);
    changedNumbers.current = new Set();
    if (numbers.length === 0) return;
    const rows = await get<Tasks>('/api/tasks', { numbers: numbers.join(',') });
    client.setQueryData<InfiniteData<Tasks, string | null>>(key, (before) => (before === undefined ? before : patchPages(before, rows.tasks)));
  };
  useLiveEvents(matchKinds('task.'), (batch) => {
    const createdCount = batch.filter((event) => event.kind === 'task.created').length;
    if (createdCount > 0) setNewCount((before) => before + createdCount);
    for (const event of batch) {
      const number = getTaskNumber(event);
      if (number !== null) changedNumbers.current.add(number);
    }
    timer.current ??= setTimeout(() => void refresh().catch(() => undefined), REFRESH_INTERVAL_MS);
  });
  return newCount;
}

/** Virtualized table of all tasks, newest first. */
export function TaskList({ filter, total, selected, href, onOpen }: Props) {
  const client = useQueryClient();
  const scroller = useRef<HTMLDivElement>(null);
  const key = ['tasks', filter.epic, filter.q];
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => get<Tasks>('/api/tasks', { ...filter, after: pageParam, limit: PAGE_SIZE }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  const newCount = useLiveRows(key);
  const rows = query.data?.pages.flatMap((page) => page.tasks) ?? [];
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_HEIGHT_PX, overscan: 12 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (last >= rows.length - 20 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, rows.length, hasNextPage, isFetchingNextPage, fetchNextPage]);

  const at = rows.findIndex((row) => row.number === selected);
  const moveSelection = (by: number) => {
    const next = rows[at < 0 ? 0 : at + by];
    if (next === undefined) return;
    onOpen(next.number);
    virtual.scrollToIndex(rows.indexOf(next), { align: 'auto' });
  };
  useKeys({ j: () => moveSelection(1), ArrowDown: () => moveSelection(1), k: () => moveSelection(-1), ArrowUp: () => moveSelection(-1), Escape: () => onOpen(null) });

  if (query.data === undefined) {
    return query.error === null ? <Skeleton rows={16} height={ROW_HEIGHT_PX} /> : <Problem error={query.error} title="The tasks could not be read" onRetry={() => void query.refetch()} />;
  }
  return (
    <div className={css.list} role="table" aria-label="Tasks" aria-rowcount={total + 1}>
      <div role="rowgroup" className={css.headRow}>
        <div role="row" aria-rowindex={1} className={css.row}>
          {['Task', 'State', 'Title', 'Priority', 'Agent', 'Depends on', 'Spent', 'Updated'].map((title) => (
            <span role="columnheader" key={title}>
              {title}
            </span>
          ))}
        </div>
      </div>
      {newCount > 0 && (
        <Button small className={css.fresh ?? ''} onClick={() => void client.resetQueries({ queryKey: key })}>
          Show {newCount} new
        </Button>
      )}
      <div ref={scroller} role="rowgroup" className={`${css.body} scroll`} tabIndex={0} aria-label="Rows">
        <div style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            const open = row.needs.filter((need) => !need.done).length;
            return (
              <div
                key={row.number}
                role="row"
                aria-rowindex={item.index + 2}
                aria-selected={row.number === selected}
                className={css.row}
                style={{ transform: `translateY(${item.start}px)` }}
                onClick={() => onOpen(row.number)}
              >
                <span role="cell">
                  <a
                    href={href(row.number)}
                    onClick={(event) => {
                      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                      event.preventDefault();
                    }}
                  >
                    {formatTaskNumber(row.number)}
                  </a>
                </span>
                <span role="cell">
                  <TaskMark state={row.storedState} column={row.column} />
                </span>
                <span role="cell" className="cut">
                  {row.title}
                </span>
                <span role="cell">P{row.priority}</span>
                <span role="cell" className={css.agent}>
                  {row.agent !== null && (
                    <>
                      <StateIcon state={row.agent.state} size={12} />
                      <span className="cut">
                        {row.agent.role} {row.agent.short}
                      </span>
                    </>
                  )}
                </span>
                <span role="cell">{open > 0 ? pluralize(open, 'task') : ''}</span>
                <span role="cell">{row.costUsd === null ? '' : formatMoney(row.costUsd)}</span>
                <span role="cell" className="dim">
                  <Timestamp at={row.updatedAt} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
