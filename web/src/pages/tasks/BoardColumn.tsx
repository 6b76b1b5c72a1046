import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { formatCount } from '../../parts/format';
import type { BoardColumn as Column } from './boardState';
import { Card, type CardActions } from './Card';
import { readDraggedCard, isCardDrag } from './dragging';
import { COLUMN_NAMES } from './moves';
import type { ColumnName } from '../../api/types';
import { COLUMN_ICONS } from './TaskMark';
import css from './Board.module.css';

interface Props {
  readonly name: ColumnName;
  readonly column: Column;
  readonly actions: CardActions;
  readonly selected: number | null;
  readonly current: number | null;
  readonly menuFor: number | null;
  readonly onMore: () => Promise<void>;
  /** Called when a card is dropped on the column. */
  readonly onDrop: (number: number) => void;
}

const CARD_HEIGHT_PX = 80;
const CARD_GAP_PX = 10;

/** Virtualized column of the board. */
export function BoardColumn({ name, column, actions, selected, current, menuFor, onMore, onDrop }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [isDragOver, setIsDragOver] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const { rows } = column;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => CARD_HEIGHT_PX,
    gap: CARD_GAP_PX,
    overscan: 4,
    getItemKey: (at) => rows[at]?.number ?? at,
  });

  const at = current === null ? -1 : rows.findIndex((row) => row.number === current);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [at, virtual]);

  const Icon = COLUMN_ICONS[name];
  const remaining = Math.max(0, column.count - rows.length);
  const nextClaimed = name === 'ready' ? rows.find((row) => row.storedState === 'pending' && row.agent === null)?.number : undefined;
  const loadMore = async () => {
    setIsBusy(true);
    await onMore().finally(() => setIsBusy(false));
  };
  return (
    <section
      className={css.column}
      data-over={isDragOver}
      data-lane={name}
      aria-label={`${COLUMN_NAMES[name]}, ${formatCount(column.count)}`}
      onDragOver={(event) => {
        if (actions.readOnly || !isCardDrag(event.dataTransfer)) return;
        event.preventDefault();
        setIsDragOver(true);
      }}
      onDragLeave={(event) => {
        // Moving from the column to one of its children is no leave.
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setIsDragOver(false);
      }}
      onDrop={(event) => {
        setIsDragOver(false);
        const number = readDraggedCard(event.dataTransfer);
        if (actions.readOnly || number === null) return;
        event.preventDefault();
        onDrop(number);
      }}
    >
      <h2 className={css.head}>
        <Icon size={12} aria-hidden="true" />
        {COLUMN_NAMES[name]}
        <span>{formatCount(column.count)}</span>
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
                  actions={actions}
                  isSelected={row.number === selected}
                  isCurrent={row.number === current}
                  isMenuOpen={row.number === menuFor}
                  isNext={row.number === nextClaimed}
                />
              </li>
            );
          })}
        </ul>
        {column.nextCursor !== null && (
          <button type="button" className={css.more} disabled={isBusy} onClick={() => void loadMore()}>
            Load {formatCount(remaining)} more
          </button>
        )}
      </div>
    </section>
  );
}
