// Virtualized table of calls, newest first. New calls wait behind a button.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useMinWidth } from '../../parts/media';
import { formatCount, pluralize, formatTime, formatLatency } from '../../parts/format';
import { Button } from '../../parts/Button';
import { OutcomeMark } from './OutcomeMark';
import type { RecordListState } from './queries';
import type { RecordCaller, RecordRow } from '../../api/types';
import css from './RecordTable.module.css';

interface Props {
  readonly list: RecordListState;
  readonly newCount: number;
  readonly selected: number | null;
  readonly onOpen: (number: number) => void;
  readonly onShowNew: () => void;
}

/** Row height; on a phone rows have two lines. */
const ROW_HEIGHT_PX = 29;
const PHONE_ROW_HEIGHT_PX = 54;

/** Splits a tool's name into its toolset and its own name. */
export function splitToolName(tool: string): readonly [string, string] {
  const bare = tool.replace(/^mcp__/, '');
  const cut = bare.indexOf('__');
  return cut < 0 ? ['', bare] : [bare.slice(0, cut + 2), bare.slice(cut + 2)];
}

/** Time of a call: with seconds today, with its date on other days. */
function formatCallTime(at: string): string {
  return formatTime(at, new Date(at).toDateString() === new Date().toDateString());
}

export function getCallerName(caller: RecordCaller): string {
  if (caller.operator) return 'operator';
  return caller.role === null ? (caller.short ?? 'unknown') : `${caller.role} ${caller.short ?? ''}`;
}

function CallRow({ row, selected, onOpen }: { readonly row: RecordRow; readonly selected: boolean; readonly onOpen: (number: number) => void }) {
  const [set, name] = splitToolName(row.tool);
  return (
    <div role="row" className={css.row} data-selected={selected} onClick={() => onOpen(row.number)}>
      <span role="cell" className={css.number}>
        <button type="button" aria-label={`Open call ${formatCount(row.number)}`} aria-current={selected} onClick={() => onOpen(row.number)}>
          {formatCount(row.number)}
        </button>
      </span>
      <span role="cell" className={css.time}>
        <time dateTime={row.at} title={new Date(row.at).toLocaleString('en-GB')}>
          {formatCallTime(row.at)}
        </time>
      </span>
      <span role="cell" className={`${css.caller} cut`}>{getCallerName(row.who)}</span>
      <span role="cell" className={`${css.tool} cut`} title={row.tool}>
        <span>{set}</span>
        <b>{name}</b>
      </span>
      <span role="cell" className={`${css.input} cut`}>{row.input}</span>
      <span role="cell" className={css.outcome} title={row.code ?? undefined}>
        <OutcomeMark outcome={row.outcome} />
      </span>
      <span role="cell" className={css.took}>{row.durationMs === null ? '' : formatLatency(row.durationMs)}</span>
    </div>
  );
}

function TableFooter({ list }: { readonly list: RecordListState }) {
  if (list.isSearching) return <p className={css.foot}>Searching…</p>;
  const { searchedTo, loadMore } = list;
  if (searchedTo === null || loadMore === null) return <p className={css.foot}>End of the record.</p>;
  return (
    <p className={css.foot}>
      Searched back to {formatCount(searchedTo.number)}, {formatTime(searchedTo.at)}.
      <Button small onClick={loadMore}>
        Load older calls
      </Button>
    </p>
  );
}

export function RecordTable({ list, newCount, selected, onOpen, onShowNew }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const isWide = useMinWidth(700);
  const { rows, loadMore } = list;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (isWide ? ROW_HEIGHT_PX : PHONE_ROW_HEIGHT_PX),
    overscan: 12,
    getItemKey: (at) => rows[at]?.number ?? at,
  });
  useEffect(() => virtual.measure(), [virtual, isWide]);
  const shown = virtual.getVirtualItems();
  const isNearEnd = (shown.at(-1)?.index ?? 0) > rows.length - 20 && rows.length >= 100;
  useEffect(() => {
    if (isNearEnd) loadMore?.();
  }, [isNearEnd, loadMore]);
  const at = rows.findIndex((row) => row.number === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
    // Depends only on the selection, so that new rows do not scroll the table.
  }, [selected]);
  return (
    <div className={css.table} role="table" aria-label="Calls" aria-rowcount={list.searchedTo === null ? rows.length + 1 : -1}>
      <div role="rowgroup">
        <div role="row" className={`${css.row} ${css.head}`}>
          {['No.', 'Time', 'Caller', 'Tool', 'Input', 'Outcome', 'Duration'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      {newCount > 0 && (
        <div className={css.newCalls}>
          <Button small onClick={onShowNew}>
            {newCount >= 100 ? 'Show more than 100 new calls' : `Show ${pluralize(newCount, 'new call')}`}
          </Button>
        </div>
      )}
      <div ref={scroll} className={`${css.body} scroll`} role="rowgroup" tabIndex={-1}>
        <div className={css.room} style={{ height: virtual.getTotalSize() }} role="presentation">
          {shown.map((item) => {
            const row = rows[item.index];
            return (
              row !== undefined && (
                <div key={item.key} className={css.place} style={{ transform: `translateY(${item.start}px)` }} role="presentation">
                  <CallRow row={row} selected={row.number === selected} onOpen={onOpen} />
                </div>
              )
            );
          })}
        </div>
        <div role="presentation">
          <TableFooter list={list} />
        </div>
      </div>
    </div>
  );
}
