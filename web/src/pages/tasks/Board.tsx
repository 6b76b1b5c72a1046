import { ChevronsRight, CircleCheck } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import { Button } from '../../parts/Button';
import type { MenuItem } from '../../parts/Menu';
import { count, time } from '../../parts/format';
import { useKeys } from '../../parts/keys';
import { findRow, neighbour, type Board as BoardData } from './board';
import { BoardColumn } from './BoardColumn';
import type { CardActs } from './Card';
import { Lines } from './Lines';
import { usePhone } from '../../parts/media';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import css from './Board.module.css';

interface Props {
  readonly board: BoardData;
  readonly selected: number | null;
  readonly readOnly: boolean;
  readonly doneOpen: boolean;
  /** Column shown on a phone. */
  readonly only: ColumnName;
  readonly onDone: (open: boolean) => void;
  readonly onOpen: (number: number | null) => void;
  readonly href: (number: number) => string;
  readonly onMove: (row: TaskRow, to: ColumnName) => void;
  readonly onMore: (name: ColumnName) => Promise<void>;
  readonly menu: (row: TaskRow) => readonly MenuItem[];
}

/** The Done column, folded to a narrow button. */
function ShutDone({ board, onOpen }: { readonly board: BoardData; readonly onOpen: () => void }) {
  const { count: done, rows } = board.columns.done;
  const newest = rows.reduce<TaskRow | undefined>((best, row) => (best === undefined || row.updatedAt > best.updatedAt ? row : best), undefined);
  return (
    <button type="button" className={css.shut} onClick={onOpen} aria-expanded="false" data-lane="done">
      <CircleCheck size={12} aria-hidden="true" />
      <span>
        Done <i>{count(done)}{newest !== undefined && `, newest TAS-${newest.number} at ${time(newest.updatedAt)}`}</i>
      </span>
    </button>
  );
}

/** Task board with lines between dependent tasks. */
export function Board({ board, selected, readOnly, doneOpen, only, onDone, onOpen, href, onMove, onMore, menu }: Props) {
  const columns = useRef<HTMLDivElement>(null);
  const phone = usePhone();
  const [current, setCurrent] = useState<number | null>(null);
  const [menuFor, setMenu] = useState<number | null>(null);
  /** Focused task; follows clicks as well as keys. */
  const focus = useRef<number | null>(null);
  const latest = useRef({ board, onMove, onOpen, href, menu });
  latest.current = { board, onMove, onOpen, href, menu };

  const drop = (number: number, to: ColumnName) => {
    const row = findRow(board, number);
    if (row !== undefined) onMove(row, to);
  };

  const open: readonly ColumnName[] = phone ? [only] : COLUMNS.filter((name) => name !== 'done' || doneOpen);
  const go = (way: 'up' | 'down' | 'left' | 'right') => {
    const next = neighbour(board, open, focus.current ?? selected, way);
    if (next !== undefined) setCurrent(next.number);
  };
  useKeys({
    j: () => go('down'), ArrowDown: () => go('down'), k: () => go('up'), ArrowUp: () => go('up'),
    h: () => go('left'), ArrowLeft: () => go('left'), l: () => go('right'), ArrowRight: () => go('right'),
    '.': () => {
      const number = focus.current ?? selected;
      if (!readOnly && number !== null) setMenu(number);
    },
    Escape: () => onOpen(null),
  });

  const acts = useMemo<CardActs>(
    () => ({
      readOnly,
      open: (number) => latest.current.onOpen(number),
      href: (number) => latest.current.href(number),
      menu: (row) => latest.current.menu(row),
      setMenu,
      focused: (number) => {
        focus.current = number;
        setCurrent((before) => (before === number ? before : null));
      },
    }),
    [readOnly],
  );
  return (
    <div className={css.board}>
      <div className={css.area}>
        {!phone && <Lines columns={columns} board={board} selected={selected} />}
        <div ref={columns} className={css.columns} data-done={doneOpen ? 'open' : 'shut'} data-one={phone}>
          {open.map((name) => (
            <BoardColumn key={name} name={name} column={board.columns[name]} acts={acts} selected={selected} current={current} menuFor={menuFor} onMore={() => onMore(name)} onDrop={(number) => drop(number, name)} />
          ))}
          {!phone && !doneOpen && <ShutDone board={board} onOpen={() => onDone(true)} />}
        </div>
        {!phone && doneOpen && (
          <Button look="quiet" small className={css.fold ?? ''} icon={<ChevronsRight size={14} />} aria-label="Fold Done" onClick={() => onDone(false)} />
        )}
      </div>
    </div>
  );
}
