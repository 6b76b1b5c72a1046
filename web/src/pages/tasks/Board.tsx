import { ChevronsRight, CircleCheck } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { Button } from '../../parts/Button';
import type { MenuItem } from '../../parts/Menu';
import { formatCount, formatTime } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { findRow, findNeighbour, type Board as BoardData } from './boardState';
import { BoardColumn } from './BoardColumn';
import type { CardActions } from './Card';
import { DependencyLines } from './DependencyLines';
import { useIsPhone } from '../../parts/media';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import css from './Board.module.css';

interface Props {
  readonly board: BoardData;
  readonly selected: number | null;
  readonly readOnly: boolean;
  readonly doneOpen: boolean;
  /** Column shown on a phone. */
  readonly phoneColumn: ColumnName;
  readonly onDone: (open: boolean) => void;
  readonly onOpen: (number: number | null) => void;
  readonly href: (number: number) => string;
  readonly onMove: (row: TaskRow, to: ColumnName) => void;
  readonly onMore: (name: ColumnName) => Promise<void>;
  readonly menu: (row: TaskRow) => readonly MenuItem[];
}

/** The Done column, folded to a narrow button. */
function FoldedDone({ board, onOpen }: { readonly board: BoardData; readonly onOpen: () => void }) {
  const { count: done, rows } = board.columns.done;
  const newest = rows.reduce<TaskRow | undefined>((best, row) => (best === undefined || row.updatedAt > best.updatedAt ? row : best), undefined);
  return (
    <button type="button" className={css.foldedDone} onClick={onOpen} aria-expanded="false" data-lane="done">
      <CircleCheck size={12} aria-hidden="true" />
      <span>
        Done <i>{formatCount(done)}{newest !== undefined && `, newest TAS-${newest.number} at ${formatTime(newest.updatedAt)}`}</i>
      </span>
    </button>
  );
}

/** Task board with lines between dependent tasks. */
export function Board({ board, selected, readOnly, doneOpen, phoneColumn, onDone, onOpen, href, onMove, onMore, menu }: Props) {
  const columns = useRef<HTMLDivElement>(null);
  const isPhone = useIsPhone();
  const [currentCard, setCurrentCard] = useState<number | null>(null);
  const [menuFor, setMenu] = useState<number | null>(null);
  /** Focused task; follows clicks as well as keys. */
  const focusedCard = useRef<number | null>(null);
  const latest = useRef({ board, onMove, onOpen, href, menu });
  latest.current = { board, onMove, onOpen, href, menu };

  const dropCard = (number: number, to: ColumnName) => {
    const row = findRow(board, number);
    if (row !== undefined) onMove(row, to);
  };

  const openColumns: readonly ColumnName[] = isPhone ? [phoneColumn] : COLUMNS.filter((name) => name !== 'done' || doneOpen);
  const moveFocus = (direction: 'up' | 'down' | 'left' | 'right') => {
    const next = findNeighbour(board, openColumns, focusedCard.current ?? selected, direction);
    if (next !== undefined) setCurrentCard(next.number);
  };
  useKeys({
    j: () => moveFocus('down'), ArrowDown: () => moveFocus('down'), k: () => moveFocus('up'), ArrowUp: () => moveFocus('up'),
    h: () => moveFocus('left'), ArrowLeft: () => moveFocus('left'), l: () => moveFocus('right'), ArrowRight: () => moveFocus('right'),
    '.': () => {
      const number = focusedCard.current ?? selected;
      if (!readOnly && number !== null) setMenu(number);
    },
    Escape: () => onOpen(null),
  });

  const cardActions = useMemo<CardActions>(
    () => ({
      readOnly,
      open: (number) => latest.current.onOpen(number),
      href: (number) => latest.current.href(number),
      menu: (row) => latest.current.menu(row),
      setMenu,
      onFocus: (number) => {
        focusedCard.current = number;
        setCurrentCard((before) => (before === number ? before : null));
      },
    }),
    [readOnly],
  );
  return (
    <div className={css.board}>
      <div className={css.area}>
        {!isPhone && <DependencyLines columns={columns} board={board} selected={selected} />}
        <div ref={columns} className={css.columns} data-done={doneOpen ? 'open' : 'shut'} data-one={isPhone}>
          {openColumns.map((name) => (
            <BoardColumn key={name} name={name} column={board.columns[name]} actions={cardActions} selected={selected} current={currentCard} menuFor={menuFor} onMore={() => onMore(name)} onDrop={(number) => dropCard(number, name)} />
          ))}
          {!isPhone && !doneOpen && <FoldedDone board={board} onOpen={() => onDone(true)} />}
        </div>
        {!isPhone && doneOpen && (
          <Button variant="quiet" small className={css.fold ?? ''} icon={<ChevronsRight size={14} />} aria-label="Fold Done" onClick={() => onDone(false)} />
        )}
      </div>
    </div>
  );
}
