import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { count } from '../../parts/format';
import type { BoardColumn as Column } from './board';
import { Card, type CardActs } from './Card';
import { carried, isCard } from './dragging';
import { COLUMN_WORDS } from './moves';
import type { ColumnName } from '../../api/types';
import { COLUMN_ICONS } from './TaskMark';
import css from './Board.module.css';

interface Props {
  readonly name: ColumnName;
  readonly column: Column;
  readonly acts: CardActs;
  readonly selected: number | null;
  readonly current: number | null;
  readonly menuFor: number | null;
  readonly onMore: () => Promise<void>;
  /** Called when a card is dropped on the column. */
  readonly onDrop: (number: number) => void;
}

const CARD = 80;
const GAP = 10;

/** Virtualized column of the board. */
export function BoardColumn({ name, column, acts, selected, current, menuFor, onMore, onDrop }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState(false);
  const { rows } = column;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD,
    gap: GAP,
    overscan: 4,
    getItemKey: (at) => rows[at]?.number ?? at,
  });

  const at = current === null ? -1 : rows.findIndex((row) => row.number === current);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);

  const Icon = COLUMN_ICONS[name];
  const left = Math.max(0, column.count - rows.length);
  const next = name === 'ready' ? rows.find((row) => row.storedState === 'pending' && row.agent === null)?.number : undefined;
  const more = async () => {
    setBusy(true);
    await onMore().finally(() => setBusy(false));
  };
  return (
    <section
      className={css.column}
      data-over={over}
      data-lane={name}
      aria-label={`${COLUMN_WORDS[name]}, ${count(column.count)}`}
      onDragOver={(event) => {
        if (acts.readOnly || !isCard(event.dataTransfer)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        // Moving from the column to one of its children is no leave.
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setOver(false);
      }}
      onDrop={(event) => {
        setOver(false);
        const number = carried(event.dataTransfer);
        if (acts.readOnly || number === null) return;
        event.preventDefault();
        onDrop(number);
      }}
    >
      <h2 className={css.head}>
        <Icon size={12} aria-hidden="true" />
        {COLUMN_WORDS[name]}
        <span>{count(column.count)}</span>
      </h2>
      <div ref={scroller} className={css.cards} data-scroller tabIndex={-1}>
        <ul style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (row === undefined) return null;
            return (
              <li key={item.key} ref={virtual.measureElement} data-index={item.index} style={{ transform: `translateY(${item.start}px)` }}>
                <Card
                  row={row}
                  acts={acts}
                  selected={row.number === selected}
                  current={row.number === current}
                  menuOpen={row.number === menuFor}
                  next={row.number === next}
                />
              </li>
            );
          })}
        </ul>
        {column.next !== null && (
          <button type="button" className={css.more} disabled={busy} onClick={() => void more()}>
            {count(left)} more
          </button>
        )}
      </div>
    </section>
  );
}
