// Virtualized table of calls, newest first. New calls wait behind a button.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useWide } from '../../parts/media';
import { count, plural, time, took } from '../../parts/format';
import { Button } from '../../parts/Button';
import { OutcomeMark } from './OutcomeMark';
import type { RecordList } from './queries';
import type { RecordCaller, RecordRow } from '../../api/types';
import css from './RecordTable.module.css';

interface Props {
  readonly list: RecordList;
  readonly news: number;
  readonly selected: number | null;
  readonly onOpen: (number: number) => void;
  readonly onNews: () => void;
}

/** Row height; on a phone rows have two lines. */
const ROW = 29;
const TALL = 54;

/** Splits a tool's name into its toolset and its own name. */
export function toolName(tool: string): readonly [string, string] {
  const bare = tool.replace(/^mcp__/, '');
  const cut = bare.indexOf('__');
  return cut < 0 ? ['', bare] : [bare.slice(0, cut + 2), bare.slice(cut + 2)];
}

/** Time of a call: with seconds today, with its date on other days. */
function clock(at: string): string {
  return time(at, new Date(at).toDateString() === new Date().toDateString());
}

export function whoName(who: RecordCaller): string {
  if (who.operator) return 'operator';
  return who.role === null ? (who.short ?? 'nobody') : `${who.role} ${who.short ?? ''}`;
}

function Row({ row, selected, onOpen }: { readonly row: RecordRow; readonly selected: boolean; readonly onOpen: (number: number) => void }) {
  const [set, name] = toolName(row.tool);
  return (
    <div role="row" className={css.row} data-selected={selected} onClick={() => onOpen(row.number)}>
      <span role="cell" className={css.number}>
        <button type="button" aria-label={`Open call ${count(row.number)}`} aria-current={selected} onClick={() => onOpen(row.number)}>
          {count(row.number)}
        </button>
      </span>
      <span role="cell" className={css.time}>
        <time dateTime={row.at} title={new Date(row.at).toLocaleString('en-GB')}>
          {clock(row.at)}
        </time>
      </span>
      <span role="cell" className={`${css.who} cut`}>{whoName(row.who)}</span>
      <span role="cell" className={`${css.tool} cut`} title={row.tool}>
        <span>{set}</span>
        <b>{name}</b>
      </span>
      <span role="cell" className={`${css.input} cut`}>{row.input}</span>
      <span role="cell" className={css.outcome} title={row.code ?? undefined}>
        <OutcomeMark outcome={row.outcome} />
      </span>
      <span role="cell" className={css.took}>{row.durationMs === null ? '' : took(row.durationMs)}</span>
    </div>
  );
}

function Foot({ list }: { readonly list: RecordList }) {
  if (list.searching) return <p className={css.foot}>Looking…</p>;
  const { searchedTo, more } = list;
  if (searchedTo === null || more === null) return <p className={css.foot}>End of the record.</p>;
  return (
    <p className={css.foot}>
      Looked back to {count(searchedTo.number)}, {time(searchedTo.at)}.
      <Button small onClick={more}>
        Load older calls
      </Button>
    </p>
  );
}

export function RecordTable({ list, news, selected, onOpen, onNews }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const wide = useWide(700);
  const { rows, more } = list;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => (wide ? ROW : TALL),
    overscan: 12,
    getItemKey: (at) => rows[at]?.number ?? at,
  });
  useEffect(() => virtual.measure(), [virtual, wide]);
  const shown = virtual.getVirtualItems();
  const nearEnd = (shown.at(-1)?.index ?? 0) > rows.length - 20 && rows.length >= 100;
  useEffect(() => {
    if (nearEnd) more?.();
  }, [nearEnd, more]);
  const at = rows.findIndex((row) => row.number === selected);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
    // Depends only on the selection, so that new rows do not scroll the table.
  }, [selected]);
  return (
    <div className={css.table} role="table" aria-label="Calls" aria-rowcount={list.searchedTo === null ? rows.length + 1 : -1}>
      <div role="rowgroup">
        <div role="row" className={`${css.row} ${css.head}`}>
          {['No.', 'Time', 'Who', 'Tool', 'Input', 'Outcome', 'Took'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      {news > 0 && (
        <div className={css.news}>
          <Button small onClick={onNews}>
            {news >= 100 ? 'More than 100 new' : `${plural(news, 'new call', 'new calls')}`}
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
                  <Row row={row} selected={row.number === selected} onOpen={onOpen} />
                </div>
              )
            );
          })}
        </div>
        <div role="presentation">
          <Foot list={list} />
        </div>
      </div>
    </div>
  );
}
