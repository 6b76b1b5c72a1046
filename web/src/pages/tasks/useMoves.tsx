// Moves of tasks by dragging, by the menu, and from the panel.
import { ArrowRight, Ban, Flag, PanelRight, RotateCcw, UserRound } from 'lucide-react';
import { useState } from 'react';
import type { MenuItem } from '../../parts/Menu';
import { showToast } from '../../parts/toast';
import { buildCancel, COLUMN_NAMES, buildForceComplete, formatTaskNumber, buildUnassign, findMove, type MoveQuestion, type TaskMove } from './moves';
import type { ColumnName, TaskRow } from '../../api/types';
import { COLUMNS } from './columns';
import type { BoardHandle } from './useBoard';

export interface Refusal {
  readonly row: TaskRow;
  readonly to: ColumnName;
  readonly error: unknown;
}

interface PendingMove {
  readonly row: TaskRow;
  readonly move: TaskMove;
  readonly to: ColumnName;
  readonly question: MoveQuestion;
}

export interface MoveHandlers {
  readonly refusal: Refusal | null;
  readonly pending: PendingMove | null;
  /** Announcement for screen readers. */
  readonly announcement: string;
  readonly moveTo: (row: TaskRow, to: ColumnName) => void;
  readonly startMove: (row: TaskRow, taskMove: TaskMove, to: ColumnName) => void;
  readonly submitAnswer: (answer: string) => Promise<void>;
  readonly closeDialog: () => void;
  readonly clearRefusal: () => void;
  readonly forceRefused: () => void;
  readonly buildMenu: (row: TaskRow, actions: MenuActions) => readonly MenuItem[];
}

interface MenuActions {
  readonly open: (number: number) => void;
  readonly assign: (row: TaskRow) => void;
}

export function useMoves(move: BoardHandle['move']): MoveHandlers {
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [pending, setPending] = useState<PendingMove | null>(null);
  const [announcement, setAnnouncement] = useState('');

  const showRefusal = (row: TaskRow, to: ColumnName, error: unknown) => {
    setRefusal({ row, to, error });
    setAnnouncement(`${formatTaskNumber(row.number)} stays in ${COLUMN_NAMES[row.column]}: ${error instanceof Error ? error.message : String(error)}`);
  };
  const announce = (taskMove: TaskMove) => {
    setAnnouncement(taskMove.doneText);
    showToast(taskMove.doneText);
  };
  const runMove = async (row: TaskRow, taskMove: TaskMove, answer: string, to: ColumnName) => {
    setRefusal(null);
    // Approved work is merged later, and the operator need not wait for it.
    if (!taskMove.isImmediate) announce(taskMove);
    await move(row, taskMove, answer, to);
    if (taskMove.isImmediate) announce(taskMove);
  };
  const startMove = (row: TaskRow, taskMove: TaskMove, to: ColumnName) => {
    if (taskMove.question !== null) setPending({ row, move: taskMove, to, question: taskMove.question });
    else void runMove(row, taskMove, '', to).catch((error: unknown) => showRefusal(row, to, error));
  };
  const moveTo = (row: TaskRow, to: ColumnName) => {
    const taskMove = findMove(row, to);
    if (taskMove === null) return;
    if (taskMove.kind === 'impossible') showRefusal(row, to, new Error(taskMove.reason));
    else startMove(row, taskMove, to);
  };
  const buildMenu = (row: TaskRow, actions: MenuActions): readonly MenuItem[] => {
    const isClosed = row.column === 'done';
    const items: MenuItem[] = [{ label: 'Open', icon: <PanelRight size={14} />, hint: '↵', onSelect: () => actions.open(row.number) }];
    for (const to of COLUMNS) {
      if (to !== row.column) items.push({ label: `Move to ${COLUMN_NAMES[to]}`, icon: <ArrowRight size={14} />, onSelect: () => moveTo(row, to) });
    }
    if (!isClosed) items.push({ label: 'Assign…', icon: <UserRound size={14} />, onSelect: () => actions.assign(row) });
    if (row.storedState === 'assigned') items.push({ label: 'Unassign', icon: <RotateCcw size={14} />, onSelect: () => startMove(row, buildUnassign(row), 'ready') });
    if (!isClosed && row.epic !== null) items.push({ label: 'Complete without a review…', icon: <Flag size={14} />, onSelect: () => startMove(row, buildForceComplete(row), 'done') });
    if (!isClosed) items.push({ label: 'Cancel task', icon: <Ban size={14} />, danger: true, onSelect: () => startMove(row, buildCancel(row), 'done') });
    return items;
  };
  return {
    refusal,
    pending,
    announcement,
    moveTo,
    startMove,
    submitAnswer: async (answer) => {
      if (pending !== null) await runMove(pending.row, pending.move, answer, pending.to);
    },
    closeDialog: () => setPending(null),
    clearRefusal: () => setRefusal(null),
    forceRefused: () => {
      if (refusal === null) return;
      setRefusal(null);
      startMove(refusal.row, buildForceComplete(refusal.row), 'done');
    },
    buildMenu,
  };
}
