// Moves of tasks by dragging, by the menu, and from the panel.
import { ArrowRight, Ban, Flag, PanelRight, RotateCcw, UserRound } from 'lucide-react';
import { useState } from 'react';
import type { MenuItem } from '../../parts/Menu';
import { toast } from '../../parts/toast';
import { cancel, COLUMN_WORDS, force, name, takeBack, wayTo, type Question, type Way } from './moves';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import type { BoardHandle } from './useBoard';

export interface Refusal {
  readonly row: TaskRow;
  readonly to: ColumnName;
  readonly error: unknown;
}

interface Asking {
  readonly row: TaskRow;
  readonly way: Way;
  readonly to: ColumnName;
  readonly asks: Question;
}

export interface Moves {
  readonly refusal: Refusal | null;
  readonly asking: Asking | null;
  /** Announcement for screen readers. */
  readonly said: string;
  readonly moveTo: (row: TaskRow, to: ColumnName) => void;
  readonly take: (row: TaskRow, way: Way, to: ColumnName) => void;
  readonly say: (words: string) => Promise<void>;
  readonly dismiss: () => void;
  readonly clear: () => void;
  readonly forceRefused: () => void;
  readonly menu: (row: TaskRow, acts: MenuActs) => readonly MenuItem[];
}

interface MenuActs {
  readonly open: (number: number) => void;
  readonly assign: (row: TaskRow) => void;
}

export function useMoves(move: BoardHandle['move']): Moves {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [said, setSaid] = useState('');

  const refuse = (row: TaskRow, to: ColumnName, error: unknown) => {
    setRefusal({ row, to, error });
    setSaid(`${name(row.number)} stays in ${COLUMN_WORDS[row.column]}: ${error instanceof Error ? error.message : String(error)}`);
  };
  const told = (way: Way) => {
    setSaid(way.told);
    toast(way.told);
  };
  const go = async (row: TaskRow, way: Way, words: string, to: ColumnName) => {
    setRefusal(null);
    // Approved work is merged later, and the operator need not wait for it.
    if (!way.atOnce) told(way);
    await move(row, way, words, to);
    if (way.atOnce) told(way);
  };
  const take = (row: TaskRow, way: Way, to: ColumnName) => {
    if (way.asks !== null) setAsking({ row, way, to, asks: way.asks });
    else void go(row, way, '', to).catch((error: unknown) => refuse(row, to, error));
  };
  const moveTo = (row: TaskRow, to: ColumnName) => {
    const way = wayTo(row, to);
    if (way === null) return;
    if (way.kind === 'none') refuse(row, to, new Error(way.why));
    else take(row, way, to);
  };
  const menu = (row: TaskRow, acts: MenuActs): readonly MenuItem[] => {
    const over = row.column === 'done';
    const items: MenuItem[] = [{ label: 'Open', icon: <PanelRight size={14} />, hint: '↵', onSelect: () => acts.open(row.number) }];
    for (const to of COLUMNS) {
      if (to !== row.column) items.push({ label: `Move to ${COLUMN_WORDS[to]}`, icon: <ArrowRight size={14} />, onSelect: () => moveTo(row, to) });
    }
    if (!over) items.push({ label: 'Assign…', icon: <UserRound size={14} />, onSelect: () => acts.assign(row) });
    if (row.storedState === 'assigned') items.push({ label: 'Take back', icon: <RotateCcw size={14} />, onSelect: () => take(row, takeBack(row), 'ready') });
    if (!over && row.epic !== null) items.push({ label: 'Complete without a review…', icon: <Flag size={14} />, onSelect: () => take(row, force(row), 'done') });
    if (!over) items.push({ label: 'Cancel task', icon: <Ban size={14} />, danger: true, onSelect: () => take(row, cancel(row), 'done') });
    return items;
  };
  return {
    refusal,
    asking,
    said,
    moveTo,
    take,
    say: async (words) => {
      if (asking !== null) await go(asking.row, asking.way, words, asking.to);
    },
    dismiss: () => setAsking(null),
    clear: () => setRefusal(null),
    forceRefused: () => {
      if (refusal === null) return;
      setRefusal(null);
      take(refusal.row, force(refusal.row), 'done');
    },
    menu,
  };
}
