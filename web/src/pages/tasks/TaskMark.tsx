import { Ban, Circle, CircleCheck, CirclePlay, CircleX, Eye, Lock, UserRound, type LucideIcon } from 'lucide-react';
import type { ColumnName } from '../../api/types';
import type { StoredState } from './columns';
import css from './TaskMark.module.css';

interface Look {
  readonly word: string;
  readonly icon: LucideIcon;
  /** Agent state with the same colour. */
  readonly like: string;
}

const LOOKS: Readonly<Record<StoredState, Look>> = {
  pending: { word: 'Ready', icon: Circle, like: 'queued' },
  assigned: { word: 'Assigned', icon: UserRound, like: 'queued' },
  in_progress: { word: 'In progress', icon: CirclePlay, like: 'running' },
  review: { word: 'In review', icon: Eye, like: 'waiting_review' },
  blocked: { word: 'Blocked', icon: Lock, like: 'queued' },
  completed: { word: 'Done', icon: CircleCheck, like: 'succeeded' },
  failed: { word: 'Failed', icon: CircleX, like: 'failed' },
  cancelled: { word: 'Cancelled', icon: Ban, like: 'killed' },
};

export const COLUMN_ICONS: Readonly<Record<ColumnName, LucideIcon>> = {
  blocked: Lock, ready: Circle, inProgress: CirclePlay, inReview: Eye, done: CircleCheck,
};

interface Props {
  readonly state: StoredState;
  /** Column of the board. A task with open dependencies is shown as blocked, whatever its state. */
  readonly column: ColumnName;
  /** Hides the label visually; screen readers still read it. */
  readonly bare?: boolean;
}

/** State of a task: icon, label and colour. */
export function TaskMark({ state, column, bare = false }: Props) {
  const look = column === 'blocked' ? LOOKS.blocked : LOOKS[state];
  const Icon = look.icon;
  return (
    <span data-state={look.like} className={css.mark} title={state}>
      <Icon size={14} aria-hidden="true" />
      <span className={bare ? 'sr-only' : undefined}>{look.word}</span>
    </span>
  );
}
